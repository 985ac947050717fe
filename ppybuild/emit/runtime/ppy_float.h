/* Floats, and numbers of one kind as the other. A part of `ppy_kernel.h`. */
#ifndef PPY_FLOAT_H
#define PPY_FLOAT_H

static inline double ppy_min_f64(double a, double b) { return b < a ? b : a; }
static inline double ppy_max_f64(double a, double b) { return b > a ? b : a; }

static inline bool ppy_checked_div_f64(double a, double b, double *result) {
    if (PPY_UNLIKELY(b == 0.0)) return false;
    *result = a / b;
    return true;
}

/* The result has the divisor's sign, zeros too. */
static inline double ppy_mod_f64(double a, double b) {
    const double rest = fmod(a, b);
    if (rest == 0.0) return copysign(0.0, b);
    return (b < 0.0) != (rest < 0.0) ? rest + b : rest;
}
static inline bool ppy_checked_mod_f64(double a, double b, double *result) {
    if (PPY_UNLIKELY(b == 0.0)) return false;
    *result = ppy_mod_f64(a, b);
    return true;
}

/* By way of the remainder, so that a == b * (a // b) + a % b as nearly as can be. */
static inline double ppy_floordiv_f64(double a, double b) {
    const double rest = fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0.0 && (b < 0.0) != (rest < 0.0)) quotient -= 1.0;
    if (quotient == 0.0) return copysign(0.0, a / b);
    const double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1.0 : whole;
}
static inline bool ppy_checked_floordiv_f64(double a, double b, double *result) {
    if (PPY_UNLIKELY(b == 0.0)) return false;
    *result = ppy_floordiv_f64(a, b);
    return true;
}

/* Conversions. */

static inline double ppy_round_f32(double a) { return (double)(float)a; }

/* Whether a double that is whole fits 64 bits: 2**63 does not, -2**63 does. */
static inline bool ppy_fits_i64(double whole) { return whole >= -0x1p63 && whole < 0x1p63; }

static inline int64_t ppy_floor(double a) { return (int64_t)floor(a); }
static inline int64_t ppy_ceil(double a) { return (int64_t)ceil(a); }
static inline int64_t ppy_round(double a) { return (int64_t)rint(a); } /* half to even */

#define PPY_CHECKED_WHOLE(name, function) \
    static inline bool ppy_checked_##name(double a, int64_t *result) { \
        const double whole = function(a); \
        if (PPY_UNLIKELY(!ppy_fits_i64(whole))) return false; \
        *result = (int64_t)whole; \
        return true; \
    }
PPY_CHECKED_WHOLE(trunc, trunc)
PPY_CHECKED_WHOLE(floor, floor)
PPY_CHECKED_WHOLE(ceil, ceil)
PPY_CHECKED_WHOLE(round, rint)

/* An int against a float, exactly: where the int may not be a double, both as ints. */
static inline int ppy_compare_mixed(int64_t a, double b) { /* b is not a nan */
    if (b >= 0x1p63) return -1;
    if (b < -0x1p63) return 1;
    const int64_t whole = (int64_t)b;
    if (a != whole) return a < whole ? -1 : 1;
    const double fraction = b - (double)whole;
    return fraction > 0.0 ? -1 : fraction < 0.0 ? 1 : 0;
}
static inline bool ppy_eq_mixed(int64_t a, double b) { return !isnan(b) && ppy_compare_mixed(a, b) == 0; }
static inline bool ppy_ne_mixed(int64_t a, double b) { return isnan(b) || ppy_compare_mixed(a, b) != 0; }
static inline bool ppy_lt_mixed(int64_t a, double b) { return !isnan(b) && ppy_compare_mixed(a, b) < 0; }
static inline bool ppy_le_mixed(int64_t a, double b) { return !isnan(b) && ppy_compare_mixed(a, b) <= 0; }
static inline bool ppy_gt_mixed(int64_t a, double b) { return !isnan(b) && ppy_compare_mixed(a, b) > 0; }
static inline bool ppy_ge_mixed(int64_t a, double b) { return !isnan(b) && ppy_compare_mixed(a, b) >= 0; }

#endif
