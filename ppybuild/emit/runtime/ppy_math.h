/* The functions of `math`. A part of `ppy_kernel.h`. */
#ifndef PPY_MATH_H
#define PPY_MATH_H

/* libm under other names: the compiler would fold constant calls, or fuse sin with cos, to
 * results that are rounded better than the ones Python gets from the library. */
#define PPY_LIBM_STRING(text) #text
#define PPY_LIBM_SYMBOL(prefix, name) PPY_LIBM_STRING(prefix) #name
#define PPY_LIBM_LABEL(prefix, name) PPY_LIBM_SYMBOL(prefix, name)
#define PPY_LIBM(name, parameters) \
    extern double ppy_libm_##name parameters __asm__(PPY_LIBM_LABEL(__USER_LABEL_PREFIX__, name)) \
        __attribute__((const, nothrow));

PPY_LIBM(pow, (double, double))
PPY_LIBM(atan2, (double, double))
PPY_LIBM(atan, (double))
PPY_LIBM(asinh, (double))
PPY_LIBM(tanh, (double))
PPY_LIBM(cbrt, (double))
PPY_LIBM(erf, (double))
PPY_LIBM(erfc, (double))

/* CPython's rule for functions of one float. */
static inline bool ppy_in_range(double a, double result) {
    return PPY_LIKELY(isfinite(result)) || (isnan(result) ? isnan(a) : !isfinite(a));
}

#define PPY_CHECKED_LIBM(name) \
    PPY_LIBM(name, (double)) \
    static inline bool ppy_checked_##name(double a, double *result) { \
        *result = ppy_libm_##name(a); \
        return ppy_in_range(a, *result); \
    }
PPY_CHECKED_LIBM(acos)
PPY_CHECKED_LIBM(acosh)
PPY_CHECKED_LIBM(asin)
PPY_CHECKED_LIBM(atanh)
PPY_CHECKED_LIBM(cos)
PPY_CHECKED_LIBM(cosh)
PPY_CHECKED_LIBM(exp)
PPY_CHECKED_LIBM(exp2)
PPY_CHECKED_LIBM(expm1)
PPY_CHECKED_LIBM(log)
PPY_CHECKED_LIBM(log10)
PPY_CHECKED_LIBM(log1p)
PPY_CHECKED_LIBM(log2)
PPY_CHECKED_LIBM(sin)
PPY_CHECKED_LIBM(sinh)
PPY_CHECKED_LIBM(tan)

static inline bool ppy_checked_sqrt(double a, double *result) {
    if (PPY_UNLIKELY(a < 0.0)) return false;
    *result = sqrt(a);
    return true;
}

static inline bool ppy_odd(double a) { return fmod(fabs(a), 2.0) == 1.0; }

/* `a ** b`. */
static inline bool ppy_checked_pow_f64(double a, double b, double *result) {
    if (b == 0.0 || a == 1.0) return *result = 1.0, true;
    if (isnan(a)) return *result = a, true;
    if (isnan(b)) return *result = b, true;
    if (a == 0.0 && b < 0.0 && isfinite(b)) return false; /* zero division; 0.0 ** -inf is inf */
    if (a < 0.0 && isfinite(a) && isfinite(b) && b != floor(b)) return false; /* complex */
    *result = ppy_libm_pow(a, b);
    return !isinf(*result) || isinf(a) || isinf(b);
}

/* `math.pow(a, b)`. */
static inline bool ppy_checked_math_pow(double a, double b, double *result) {
    if (b == 0.0 || a == 1.0) return *result = 1.0, true;
    if (isnan(a)) return *result = a, true;
    if (isnan(b)) return *result = b, true;
    *result = ppy_libm_pow(a, b);
    return isfinite(*result) || !isfinite(a) || !isfinite(b);
}

static inline bool ppy_checked_fmod(double a, double b, double *result) {
    *result = fmod(a, b);
    return !isnan(*result) || isnan(a) || isnan(b);
}

static inline bool ppy_checked_remainder(double a, double b, double *result) {
    *result = remainder(a, b);
    return !isnan(*result) || isnan(a) || isnan(b);
}

static inline double ppy_ldexp(double a, int64_t exponent) {
    const int64_t most = 1 << 20; /* any double is zero or infinite past this */
    const int64_t bounded = exponent > most ? most : exponent < -most ? -most : exponent;
    return ldexp(a, (int)bounded);
}
static inline bool ppy_checked_ldexp(double a, int64_t exponent, double *result) {
    *result = ppy_ldexp(a, exponent);
    return !isinf(*result) || isinf(a);
}

/* `math.isclose`; neither tolerance is negative. */
static inline bool ppy_is_close(double a, double b, double relative, double absolute) {
    if (a == b) return true;
    if (isinf(a) || isinf(b)) return false;
    const double apart = fabs(b - a);
    return apart <= fabs(relative * b) || apart <= fabs(relative * a) || apart <= absolute;
}

static inline double ppy_ulp(double a) {
    if (isnan(a)) return a;
    const double size = fabs(a);
    if (isinf(size)) return size;
    const double above = nextafter(size, INFINITY);
    return isinf(above) ? size - nextafter(size, 0.0) : above - size;
}

static inline double ppy_modf_whole(double a) { return isfinite(a) ? trunc(a) : a; }
static inline double ppy_modf_fraction(double a) {
    return isnan(a) ? a : copysign(isinf(a) ? 0.0 : a - trunc(a), a);
}

static inline double ppy_frexp_mantissa(double a) {
    int exponent = 0;
    return isfinite(a) && a != 0.0 ? frexp(a, &exponent) : a;
}
static inline int64_t ppy_frexp_exponent(double a) {
    int exponent = 0;
    if (isfinite(a) && a != 0.0) (void)frexp(a, &exponent);
    return exponent;
}

/* CPython's own. */

static inline bool ppy_ask(ppy_run *run, int function, const double *values, int64_t count, double *result) {
    return run->ask != NULL && run->ask(function, values, count, result);
}
static inline bool ppy_checked_gamma(ppy_run *run, double a, double *result) { return ppy_ask(run, PPY_GAMMA, &a, 1, result); }
static inline bool ppy_checked_lgamma(ppy_run *run, double a, double *result) { return ppy_ask(run, PPY_LGAMMA, &a, 1, result); }
static inline bool ppy_checked_hypot(ppy_run *run, ppy_f64 values, double *result) {
    return ppy_ask(run, PPY_HYPOT, values.data, values.length, result);
}
static inline bool ppy_checked_dist(ppy_run *run, ppy_f64 values, double *result) {
    return ppy_ask(run, PPY_DIST, values.data, values.length, result);
}
static inline bool ppy_checked_round_digits(ppy_run *run, double a, int64_t digits, double *result) {
    const int64_t most = 1 << 20; /* no double has a digit past this */
    const double bounded = (double)(digits > most ? most : digits < -most ? -most : digits);
    return ppy_ask(run, PPY_ROUND, (const double[]){a, bounded}, 2, result);
}

/* Exact sums: an integer of PPY_SUM_PARTS times 32 bits whose last bit stands for 2**-1074,
 * so that any double is a multiple of it. A part may carry more than its bits for a while. */
enum {
    PPY_SUM_PARTS = 68,         /* (1074 + 1024) / 32, and room for 64 bits more */
    PPY_SUM_CARRY = 1 << 30,    /* doubles that may be added before the parts are put right */
};
typedef struct {
    int64_t parts[PPY_SUM_PARTS];
    int64_t left;
} ppy_sum;

static inline void ppy_sum_carry(ppy_sum *sum) {
    for (int at = 0; at + 1 < PPY_SUM_PARTS; at++) {
        sum->parts[at + 1] += sum->parts[at] >> 32;
        sum->parts[at] &= 0xffffffff;
    }
    sum->left = PPY_SUM_CARRY;
}

/* Adds a finite double. */
static inline void ppy_sum_add(ppy_sum *sum, double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    const int exponent = (int)((bits >> 52) & 0x7ff), place = exponent ? exponent - 1 : 0;
    const uint64_t digits = (bits & (((uint64_t)1 << 52) - 1)) | ((uint64_t)(exponent != 0) << 52);
    const unsigned __int128 shifted = (unsigned __int128)digits << (place & 31);
    const int64_t sign = (int64_t)bits < 0 ? -1 : 1;
    int64_t *parts = sum->parts + (place >> 5);
    parts[0] += sign * (int64_t)(uint32_t)shifted;
    parts[1] += sign * (int64_t)(uint32_t)(shifted >> 32);
    parts[2] += sign * (int64_t)(shifted >> 64);
    if (PPY_UNLIKELY(--sum->left == 0)) ppy_sum_carry(sum);
}

/* The double next to the sum, the even one of two; the sum is left in another form. */
static inline double ppy_sum_rounded(ppy_sum *sum) {
    ppy_sum_carry(sum);
    const bool negative = sum->parts[PPY_SUM_PARTS - 1] < 0;
    if (negative) {
        for (int at = 0; at < PPY_SUM_PARTS; at++) sum->parts[at] = -sum->parts[at];
        ppy_sum_carry(sum);
    }
    int top = PPY_SUM_PARTS - 1;
    while (top > 0 && sum->parts[top] == 0) top--;
    /* The leading 64 bits; below, the last of them stands for all that follow. */
    const int empty = __builtin_clzll((uint64_t)sum->parts[top] | 1) - 32; /* in the top part */
    unsigned __int128 leading = 0;
    for (int at = top; at > top - 3; at--) leading = (leading << 32) | (uint64_t)(at < 0 ? 0 : sum->parts[at]);
    leading <<= 32 + empty;
    uint64_t digits = (uint64_t)(leading >> 64);
    bool more = (uint64_t)leading != 0;
    for (int at = top - 3; at >= 0; at--) more |= sum->parts[at] != 0;
    if (more) digits |= 1;
    const double size = ldexp((double)digits, (top - 1) * 32 - empty - 1074);
    return negative ? -size : size;
}

/* `math.fsum`, where no sum on the way can leave the range of a double. */
#define PPY_FSUM(name) \
    static inline bool ppy_checked_fsum_##name(ppy_##name values, double *result) { \
        ppy_sum sum = {.left = PPY_SUM_CARRY}; \
        double most = 0.0; \
        bool negative = false; \
        for (int64_t at = 0; at < values.length; at++) { \
            const double value = (double)values.data[at]; \
            if (PPY_UNLIKELY(!isfinite(value))) return false; \
            if (fabs(value) > most) most = fabs(value); \
            negative |= signbit(value) != 0; \
            ppy_sum_add(&sum, value); \
        } \
        if (most * (double)values.length >= 0x1p1023) return false; \
        if (most == 0.0 && negative) return false; /* the sign of such a zero is Python's to say */ \
        *result = ppy_sum_rounded(&sum); \
        return true; \
    }
PPY_FSUM(f64)
PPY_FSUM(i64)
PPY_FSUM(f32)
PPY_FSUM(i32)
PPY_FSUM(u8)
PPY_FSUM(i8)

#endif
