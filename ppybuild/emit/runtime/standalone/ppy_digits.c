#include "ppy_digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppy_failure.h"
#include "ppy_text.h"

int ppy_int_digits(uint64_t value, unsigned base, char *to) {
    char reversed[PPY_INT_DIGITS];
    int count = 0;
    do reversed[count++] = "0123456789abcdefghijklmnopqrstuvwxyz"[value % base];
    while (value /= base);
    for (int i = 0; i < count; i++) to[i] = reversed[count - 1 - i];
    return count;
}

static ppy_decimal start(double value) {
    return (ppy_decimal){isnan(value) ? PPY_NAN : isinf(value) ? PPY_INFINITE : PPY_FINITE, signbit(value), "0", 1, 1};
}

/* The C library rounds exactly, ties to even; no locale is ever set, so its point is a point. */
static char *print(const char *form, int64_t count, double value, int64_t *bytes) {
    const int64_t size = count + 330; /* the largest double has 309 digits before the point */
    char *made = ppy_arena_allocate(size);
    *bytes = snprintf(made, (size_t)size, form, (int)count, fabs(value));
    if (*bytes < 0) ppy_raise(PPY_MemoryError, (ppy_text){0});
    return made;
}

static void drop_zeros(ppy_decimal *decimal) {
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0') decimal->count--;
}

ppy_decimal ppy_rounded_digits(double value, int64_t count) {
    ppy_decimal made = start(value);
    if (made.kind != PPY_FINITE || value == 0) return made;
    int64_t bytes;
    char *printed = print("%.*e", count - 1, value, &bytes); /* d.ddde±dd */
    if (count > 1) memmove(printed + 1, printed + 2, (size_t)(bytes - 1)); /* with the zero byte */
    made.digits = printed;
    made.count = count;
    made.point = strtol(printed + count + 1, NULL, 10) + 1;
    drop_zeros(&made);
    return made;
}

ppy_decimal ppy_rounded_places(double value, int64_t places) {
    ppy_decimal made = start(value);
    if (made.kind != PPY_FINITE || value == 0) return made;
    int64_t bytes;
    char *printed = print("%.*f", places, value, &bytes); /* ddd.ddd */
    made.point = places ? bytes - places - 1 : bytes;
    if (places) memmove(printed + made.point, printed + made.point + 1, (size_t)places);
    made.digits = printed;
    made.count = made.point + places;
    while (made.count > 1 && made.digits[0] == '0') {
        made.digits++;
        made.count--;
        made.point--;
    }
    if (made.digits[0] == '0') made.point = 1; /* all zeros */
    drop_zeros(&made);
    return made;
}

int64_t ppy_layout_bytes(const ppy_decimal *decimal, const ppy_layout *layout) {
    const int64_t digits = decimal->count > layout->digits ? decimal->count : layout->digits;
    return (digits < 0 ? 0 : digits) + llabs(decimal->point) + 16;
}

static char *put_zeros(char *to, int64_t count) {
    if (count <= 0) return to;
    memset(to, '0', (size_t)count);
    return to + count;
}

/* The digits from `from` to `to`, with zeros where there are none. */
static char *put_digits(char *at, const ppy_decimal *decimal, int64_t from, int64_t to) {
    const int64_t zeros_before = from < 0 ? (to < 0 ? to : 0) - from : 0;
    at = put_zeros(at, zeros_before);
    from += zeros_before;
    const int64_t known = (to < decimal->count ? to : decimal->count) - from;
    if (known > 0) {
        memcpy(at, decimal->digits + from, (size_t)known);
        at += known;
        from += known;
    }
    return put_zeros(at, to - from);
}

static char *put_exponent(char *to, int64_t exponent, bool upper) {
    *to++ = upper ? 'E' : 'e';
    *to++ = exponent < 0 ? '-' : '+';
    const int64_t size = llabs(exponent);
    if (size < 10) *to++ = '0';
    return to + ppy_int_digits((uint64_t)size, 10, to);
}

char *ppy_lay_out(const ppy_decimal *decimal, const ppy_layout *layout, char *to) {
    if (decimal->kind != PPY_FINITE) {
        const char *name = decimal->kind == PPY_NAN ? (layout->upper ? "NAN" : "nan") : (layout->upper ? "INF" : "inf");
        memcpy(to, name, 3);
        return to + 3;
    }
    const bool exponent = layout->form == PPY_EXPONENT ||
                          (layout->form == PPY_EITHER && (decimal->point > layout->exponent_above || decimal->point < -3));
    const int64_t point = exponent ? 1 : decimal->point;
    int64_t end = decimal->count > layout->digits ? decimal->count : layout->digits;
    if (end < point + (!exponent && layout->point_zero)) end = point + (!exponent && layout->point_zero);
    if (point <= 0) *to++ = '0';
    else to = put_digits(to, decimal, 0, point);
    if (end > point || layout->point) *to++ = '.';
    to = put_digits(to, decimal, point, end);
    return exponent ? put_exponent(to, decimal->point - 1, layout->upper) : to;
}
