/* Integers of 64 bits. A part of `ppy_kernel.h`. */
#ifndef PPY_INT_H
#define PPY_INT_H

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

/* Where a slice of a sequence starts or stops, and how many items it has. */
static inline int64_t ppy_slice_bound(int64_t bound, int64_t length) {
    if (bound < 0) bound += length;
    return bound < 0 ? 0 : bound > length ? length : bound;
}
static inline int64_t ppy_slice_length(int64_t start, int64_t stop) { return start < stop ? stop - start : 0; }

/* The same of a slice with a step, which is no item's place where it goes down to the end. */
static inline int64_t ppy_stride_bound(int64_t bound, int64_t length, int64_t step) {
    const int64_t least = step < 0 ? -1 : 0, most = step < 0 ? length - 1 : length;
    if (bound < 0) bound += length;
    return bound < least ? least : bound > most ? most : bound;
}
static inline int64_t ppy_stride_length(int64_t start, int64_t stop, int64_t step) {
    return step == 0 ? 0 : (int64_t)ppy_range_length(start, stop, step);
}

#endif
