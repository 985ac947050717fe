#include "ppy_norm.h"

#include <math.h>
#include <stdlib.h>

#include "ppy_failure.h"

/* A sum of squares in three parts, beside 1.0: what each addition loses is kept. */
typedef struct {
    double sum, lost[3];
} squares;

static void add(squares *to, int part, double value) {
    const double before = to->sum;
    to->sum += value;
    to->lost[part] += (before - to->sum) + value;
}

static double total(const squares *of) { return of->sum - 1.0 + (of->lost[0] + of->lost[1] + of->lost[2]); }

/* The upper half of the digits of a value. */
static double upper_half(double value) {
    const double far = value * 134217729.0;
    return far - (far - value);
}

static double norm(const double *values, int64_t count, double most) {
    squares found = {.sum = 1.0};
    int exponent;
    frexp(most, &exponent);
    if (exponent < -1023) { /* the scale would be infinite */
        for (int64_t i = 0; i < count; i++) add(&found, 0, values[i] / most * (values[i] / most));
        return most * sqrt(found.sum - 1.0 + found.lost[0]);
    }
    const double scale = ldexp(1.0, -exponent);
    for (int64_t i = 0; i < count; i++) {
        const double value = values[i] * scale, high = upper_half(value), low = value - high;
        add(&found, 0, high * high);
        add(&found, 1, 2.0 * high * low);
        found.lost[2] += low * low;
    }
    const double root = sqrt(total(&found)), high = upper_half(root), low = root - high;
    add(&found, 0, -high * high);
    add(&found, 1, -2.0 * high * low);
    add(&found, 2, -low * low);
    return (root + total(&found) / (2.0 * root)) / scale;
}

double ppy_hypot(const double *values, int64_t count) {
    double sizes[255], most = 0.0;
    bool nan = false;
    for (int64_t i = 0; i < count; i++) {
        sizes[i] = fabs(values[i]);
        nan |= isnan(sizes[i]);
        if (sizes[i] > most) most = sizes[i];
    }
    if (isinf(most)) return most;
    if (nan) return (double)NAN;
    return most == 0.0 || count <= 1 ? most : norm(sizes, count, most);
}

/* Partial sums that do not overlap, the smallest first (Shewchuk). */

double ppy_fsum(const ppy_list *values) {
    int64_t count = 0, room = 32;
    double *partials = malloc((size_t)room * sizeof *partials);
    double special = 0.0, infinities = 0.0;
    if (!partials) ppy_raise(PPY_MemoryError, (ppy_text){0});
    for (int64_t at = 0; at < values->length; at++) {
        double x = PPY_ITEMS(double, values)[at];
        const double given = x;
        int64_t kept = 0;
        for (int64_t j = 0; j < count; j++) {
            double y = partials[j];
            if (fabs(x) < fabs(y)) {
                const double other = x;
                x = y;
                y = other;
            }
            const double high = x + y, low = y - (high - x);
            if (low != 0.0) partials[kept++] = low;
            x = high;
        }
        count = kept;
        if (x == 0.0) continue;
        if (!isfinite(x)) {
            if (isfinite(given)) {
                free(partials);
                ppy_raise_ascii(PPY_OverflowError, "intermediate overflow in fsum");
            }
            if (isinf(given)) infinities += given;
            special += given;
            count = 0;
            continue;
        }
        if (count == room) {
            double *more = realloc(partials, (size_t)(room *= 2) * sizeof *partials);
            if (!more) ppy_raise(PPY_MemoryError, (ppy_text){0});
            partials = more;
        }
        partials[count++] = x;
    }
    if (special != 0.0) { /* a nan is one too */
        free(partials);
        if (isnan(infinities)) ppy_raise_ascii(PPY_ValueError, "-inf + inf in fsum");
        return special;
    }
    double high = 0.0, low = 0.0;
    if (count > 0) {
        high = partials[--count];
        while (count > 0) {
            const double x = high, y = partials[--count];
            high = x + y;
            low = y - (high - x);
            if (low != 0.0) break;
        }
        /* Half to even needs to know on which side of the half the rest lies. */
        if (count > 0 && ((low < 0.0 && partials[count - 1] < 0.0) || (low > 0.0 && partials[count - 1] > 0.0))) {
            const double twice = low * 2.0, x = high + twice;
            if (twice == x - high) high = x;
        }
    }
    free(partials);
    return high;
}
