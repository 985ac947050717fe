/* What kernels are made of: types, arithmetic with Python's meaning, and the run.
 *
 * `ppy_checked_X(operands, &result)` returns false where CPython would raise or would need
 * more than 64 bits; the kernel then returns PPY_ABANDON and Python starts again. The
 * functions without `checked` are defined only where the checked one succeeds. */
#ifndef PPY_KERNEL_H
#define PPY_KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PPY_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define PPY_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define PPY_COLD __attribute__((cold))

/* What a kernel returns. */
enum {
    PPY_OK = 0,
    PPY_ABANDON = 1, /* a guard failed: put back what was saved, run the Python body */
    PPY_RAISED = 2,  /* a Python exception is set: pass it on, run nothing again */
};

/* Borrowed one-dimensional buffers; length in elements. */
typedef struct { double *data; int64_t length; } ppy_f64;
typedef struct { int64_t *data; int64_t length; } ppy_i64;
typedef struct { float *data; int64_t length; } ppy_f32;
typedef struct { int32_t *data; int64_t length; } ppy_i32;
typedef struct { uint8_t *data; int64_t length; } ppy_u8;
typedef struct { int8_t *data; int64_t length; } ppy_i8;

/* A copy of bytes as they were before the run wrote there; the bytes follow the header. */
typedef struct ppy_saved {
    struct ppy_saved *earlier;
    void *data;
    size_t bytes;
} ppy_saved;

/* One call from Python, shared by the kernels that it reaches. */
typedef struct ppy_run {
    ppy_saved *saved;             /* the latest copy */
    int64_t depth;                /* Python frames that may still be entered below */
    int64_t ticks;                /* loop turns until signals are looked at */
    int (*poll)(struct ppy_run *); /* PPY_OK or PPY_RAISED; may be NULL */
} ppy_run;

/* Loop turns between two looks at signals, and turns charged at once where a loop may be
 * left early. */
#define PPY_TICKS ((int64_t)1 << 20)
#define PPY_SMALL_BLOCK ((int64_t)1 << 12)

/* Deeper recursion is Python's: a kernel's frames are on the C stack. */
#define PPY_DEPTH 2500

static inline PPY_COLD int ppy_poll(ppy_run *run) {
    run->ticks = PPY_TICKS;
    return run->poll ? run->poll(run) : PPY_OK;
}

/* In a kernel: count loop turns, and look at signals when enough have passed. */
#define PPY_TICK(run, turns) \
    do { \
        if (PPY_UNLIKELY(((run)->ticks -= (turns)) < 0) && PPY_UNLIKELY(ppy_poll(run) != PPY_OK)) return PPY_RAISED; \
    } while (0)

/* In a kernel: go on only if the kernel that is called does. */
#define PPY_CALL(call) \
    do { \
        const int ppy_status = (call); \
        if (PPY_UNLIKELY(ppy_status != PPY_OK)) return ppy_status; \
    } while (0)

/* In a kernel: abandon the run unless the condition holds. */
#define PPY_GUARD(condition) \
    do { \
        if (PPY_UNLIKELY(!(condition))) return PPY_ABANDON; \
    } while (0)

/* Copies a buffer unless this run has copied all of it before. False without memory. */
static inline PPY_COLD bool ppy_save(ppy_run *run, void *data, size_t bytes) {
    if (bytes == 0) return true;
    for (ppy_saved *at = run->saved; at; at = at->earlier) {
        const uintptr_t kept = (uintptr_t)at->data, wanted = (uintptr_t)data;
        if (wanted >= kept && wanted - kept <= at->bytes && bytes <= at->bytes - (wanted - kept)) return true;
    }
    ppy_saved *saved = bytes <= SIZE_MAX - sizeof *saved ? malloc(sizeof *saved + bytes) : NULL;
    if (!saved) return false;
    *saved = (ppy_saved){run->saved, data, bytes};
    memcpy(saved + 1, data, bytes);
    run->saved = saved;
    return true;
}

/* Ends the run. Where `restore`, every saved buffer holds its old bytes again: latest copy
 * first, so that where two overlap the earliest, taken before any write, comes last. */
static inline PPY_COLD void ppy_release(ppy_run *run, bool restore) {
    for (ppy_saved *at = run->saved; at;) {
        ppy_saved *earlier = at->earlier;
        if (restore) memcpy(at->data, at + 1, at->bytes);
        free(at);
        at = earlier;
    }
    run->saved = NULL;
}

/* Whether two buffers share no byte. */
static inline bool ppy_disjoint(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    const uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first <= second ? second - first >= a_bytes || b_bytes == 0 : first - second >= b_bytes || a_bytes == 0;
}

#define PPY_BYTES(buffer) ((size_t)(buffer).length * sizeof *(buffer).data)

/* Ranges. */

/* How many values `range(start, stop, step)` has; step is not zero. */
static inline uint64_t ppy_range_length(int64_t start, int64_t stop, int64_t step) {
    const uint64_t first = (uint64_t)start, last = (uint64_t)stop, stride = (uint64_t)step;
    if (step > 0) return start < stop ? (last - first - 1) / stride + 1 : 0;
    return start > stop ? (first - last - 1) / (0 - stride) + 1 : 0;
}

/* The value of a range at a turn; wraps, because the value after the last may not fit. */
static inline int64_t ppy_range_at(int64_t start, int64_t step, uint64_t turn) {
    return (int64_t)((uint64_t)start + turn * (uint64_t)step);
}

/* Where a block of at most `block` turns ends that counts up from `at` to `stop`, or down. */
static inline int64_t ppy_block_up(int64_t at, int64_t stop, int64_t block) {
    return (uint64_t)stop - (uint64_t)at > (uint64_t)block ? at + block : stop;
}
static inline int64_t ppy_block_down(int64_t at, int64_t stop, int64_t block) {
    return (uint64_t)at - (uint64_t)stop > (uint64_t)block ? at - block : stop;
}
static inline uint64_t ppy_block_turns(uint64_t at, uint64_t turns, int64_t block) {
    return turns - at > (uint64_t)block ? at + (uint64_t)block : turns;
}

/* Integers. */

static inline bool ppy_checked_add_i64(int64_t a, int64_t b, int64_t *result) { return !__builtin_add_overflow(a, b, result); }
static inline bool ppy_checked_sub_i64(int64_t a, int64_t b, int64_t *result) { return !__builtin_sub_overflow(a, b, result); }
static inline bool ppy_checked_mul_i64(int64_t a, int64_t b, int64_t *result) { return !__builtin_mul_overflow(a, b, result); }
static inline bool ppy_checked_neg_i64(int64_t a, int64_t *result) { return !__builtin_sub_overflow((int64_t)0, a, result); }

/* Of operands that are not negative. */
static inline int64_t ppy_add_sat(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}
static inline int64_t ppy_mul_sat(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

static inline int64_t ppy_abs_i64(int64_t a) { return a < 0 ? -a : a; }
static inline bool ppy_checked_abs_i64(int64_t a, int64_t *result) {
    if (PPY_UNLIKELY(a == INT64_MIN)) return false;
    *result = ppy_abs_i64(a);
    return true;
}

static inline int64_t ppy_min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t ppy_max_i64(int64_t a, int64_t b) { return b > a ? b : a; }

static inline int64_t ppy_floordiv_i64(int64_t a, int64_t b) {
    const int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
static inline bool ppy_checked_floordiv_i64(int64_t a, int64_t b, int64_t *result) {
    if (PPY_UNLIKELY(b == 0 || (b == -1 && a == INT64_MIN))) return false;
    *result = ppy_floordiv_i64(a, b);
    return true;
}

static inline int64_t ppy_mod_i64(int64_t a, int64_t b) {
    if (b == -1) return 0; /* INT64_MIN % -1 traps */
    const int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline bool ppy_checked_mod_i64(int64_t a, int64_t b, int64_t *result) {
    if (PPY_UNLIKELY(b == 0)) return false;
    *result = ppy_mod_i64(a, b);
    return true;
}

static inline uint64_t ppy_magnitude(int64_t a) { return a < 0 ? 0 - (uint64_t)a : (uint64_t)a; }

/* a / b correctly rounded: a 63-bit quotient with a sticky last bit, rounded once. */
static inline PPY_COLD double ppy_truediv_wide(int64_t a, int64_t b) {
    if (a == 0) return b < 0 ? -0.0 : 0.0;
    const uint64_t over = ppy_magnitude(a), under = ppy_magnitude(b);
    const int over_shift = __builtin_clzll(over), under_shift = __builtin_clzll(under);
    const unsigned __int128 scaled = (unsigned __int128)(over << over_shift) << 63;
    const uint64_t divisor = under << under_shift;
    uint64_t quotient = (uint64_t)(scaled / divisor);
    if (scaled % divisor != 0) quotient |= 1;
    const double magnitude = ldexp((double)quotient, under_shift - over_shift - 63);
    return (a < 0) != (b < 0) ? -magnitude : magnitude;
}
static inline double ppy_truediv_i64(int64_t a, int64_t b) {
    const uint64_t exact = (uint64_t)1 << 53; /* ints that a double holds */
    if (PPY_LIKELY(ppy_magnitude(a) <= exact && ppy_magnitude(b) <= exact)) return (double)a / (double)b;
    return ppy_truediv_wide(a, b);
}
static inline bool ppy_checked_truediv_i64(int64_t a, int64_t b, double *result) {
    if (PPY_UNLIKELY(b == 0)) return false;
    *result = ppy_truediv_i64(a, b);
    return true;
}

static inline bool ppy_checked_pow_i64(int64_t base, int64_t exponent, int64_t *result) {
    if (exponent < 0) return false;
    int64_t power = 1;
    for (uint64_t left = (uint64_t)exponent;;) {
        if ((left & 1) && __builtin_mul_overflow(power, base, &power)) return false;
        left >>= 1;
        if (left == 0) break;
        if (__builtin_mul_overflow(base, base, &base)) return false;
    }
    *result = power;
    return true;
}
static inline int64_t ppy_pow_i64(int64_t base, int64_t exponent) {
    int64_t power = 0;
    (void)ppy_checked_pow_i64(base, exponent, &power);
    return power;
}

static inline int64_t ppy_shl_i64(int64_t a, int64_t count) {
    return count > 63 ? 0 : (int64_t)((uint64_t)a << count);
}
static inline bool ppy_checked_shl_i64(int64_t a, int64_t count, int64_t *result) {
    if (PPY_UNLIKELY(count < 0)) return false;
    const int64_t shifted = ppy_shl_i64(a, count);
    if (PPY_UNLIKELY(a != 0 && (count > 63 || shifted >> count != a))) return false;
    *result = shifted;
    return true;
}
static inline int64_t ppy_shr_i64(int64_t a, int64_t count) { return a >> (count > 63 ? 63 : count); }
static inline bool ppy_checked_shr_i64(int64_t a, int64_t count, int64_t *result) {
    if (PPY_UNLIKELY(count < 0)) return false;
    *result = ppy_shr_i64(a, count);
    return true;
}

static inline int64_t ppy_gcd(int64_t a, int64_t b) {
    uint64_t left = ppy_magnitude(a), right = ppy_magnitude(b);
    while (right != 0) {
        const uint64_t rest = left % right;
        left = right;
        right = rest;
    }
    return (int64_t)left;
}
static inline bool ppy_checked_gcd(int64_t a, int64_t b, int64_t *result) {
    *result = ppy_gcd(a, b);
    return *result >= 0; /* gcd(-2**63, -2**63) is 2**63 */
}

static inline bool ppy_checked_lcm(int64_t a, int64_t b, int64_t *result) {
    *result = 0;
    if (a == 0 || b == 0) return true;
    const uint64_t left = ppy_magnitude(a), right = ppy_magnitude(b);
    const uint64_t divisor = (uint64_t)ppy_gcd(a, b); /* 2**63 at the most */
    return !__builtin_mul_overflow(left / divisor, right, result);
}
static inline int64_t ppy_lcm(int64_t a, int64_t b) {
    int64_t multiple = 0;
    (void)ppy_checked_lcm(a, b, &multiple);
    return multiple;
}

/* Ways to choose k of n: each product is a multiple of its divisor, and none exceeds the
 * last by more than a factor of k. */
static inline bool ppy_checked_comb(int64_t n, int64_t k, int64_t *result) {
    *result = 0;
    if (n < 0 || k < 0) return false;
    if (k > n) return true;
    if (k > n - k) k = n - k;
    int64_t ways = 1;
    for (int64_t taken = 0; taken < k; taken++) {
        const __int128 next = (__int128)ways * (n - taken) / (taken + 1);
        if (next > INT64_MAX) return false;
        ways = (int64_t)next;
    }
    *result = ways;
    return true;
}
static inline int64_t ppy_comb(int64_t n, int64_t k) {
    int64_t ways = 0;
    (void)ppy_checked_comb(n, k, &ways);
    return ways;
}

/* The same in order. */
static inline bool ppy_checked_perm(int64_t n, int64_t k, int64_t *result) {
    *result = 0;
    if (n < 0 || k < 0) return false;
    if (k > n) return true;
    int64_t ways = 1;
    for (int64_t taken = 0; taken < k; taken++) {
        if (__builtin_mul_overflow(ways, n - taken, &ways)) return false;
    }
    *result = ways;
    return true;
}
static inline int64_t ppy_perm(int64_t n, int64_t k) {
    int64_t ways = 0;
    (void)ppy_checked_perm(n, k, &ways);
    return ways;
}

static inline int64_t ppy_isqrt(int64_t a) {
    int64_t root = (int64_t)sqrt((double)a);
    while (root > 3037000499 || root * root > a) root--; /* 3037000499 is isqrt(2**63 - 1) */
    while (root < 3037000499 && (root + 1) * (root + 1) <= a) root++;
    return root;
}
static inline bool ppy_checked_isqrt(int64_t a, int64_t *result) {
    if (PPY_UNLIKELY(a < 0)) return false;
    *result = ppy_isqrt(a);
    return true;
}

static inline int64_t ppy_factorial(int64_t a) {
    int64_t product = 1;
    for (int64_t factor = 2; factor <= a; factor++) product *= factor;
    return product;
}
static inline bool ppy_checked_factorial(int64_t a, int64_t *result) {
    if (PPY_UNLIKELY(a < 0 || a > 20)) return false; /* 21! is past 64 bits */
    *result = ppy_factorial(a);
    return true;
}

static inline int64_t ppy_index(int64_t index, int64_t length) { return index < 0 ? index + length : index; }
static inline bool ppy_checked_index(int64_t index, int64_t length, int64_t *result) {
    const int64_t at = ppy_index(index, length);
    *result = at;
    return PPY_LIKELY((uint64_t)at < (uint64_t)length);
}

/* Floats. */

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

/* math. */

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

#endif
