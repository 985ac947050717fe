/* What fused tensor code stands on: vectors, their mathematics, and torch's threads.
 *
 * Before including, define
 *   PPY_DOUBLE        1 for float64, 0 for float32
 *   PPY_VECTOR_BYTES  width of a SIMD register: 16, 32 or 64
 *
 * Compile with -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math. Never with
 * -ffast-math: infinities and NaN mean what they mean in PyTorch.
 *
 * Polynomials are Chebyshev fits, their errors given beside them.
 */
#ifndef PPY_FUSED_H
#define PPY_FUSED_H

#include <stdint.h>
#include <string.h>

/* Vectors are passed between inlined functions only, so no ABI is at stake where they are
 * longer than the machine's. */
#pragma GCC diagnostic ignored "-Wpsabi"

#if PPY_DOUBLE
typedef double ppy_real;
typedef int64_t ppy_bits;
#define PPY_R(single, twice) (twice)
#else
typedef float ppy_real;
typedef int32_t ppy_bits;
#define PPY_R(single, twice) (single##f)
#endif

#define PPY_LANES ((int64_t)(PPY_VECTOR_BYTES / sizeof(ppy_real)))
#define PPY_INLINE static inline __attribute__((always_inline, unused))

typedef ppy_real ppy_vec __attribute__((vector_size(PPY_VECTOR_BYTES)));
typedef ppy_bits ppy_mask __attribute__((vector_size(PPY_VECTOR_BYTES)));
typedef ppy_real ppy_unaligned
    __attribute__((vector_size(PPY_VECTOR_BYTES), aligned(sizeof(ppy_real)), may_alias));

/* ---- torch's own thread pool (torch/csrc/stable/c/shim.h) ---- */

int32_t torch_parallel_for(int64_t begin, int64_t end, int64_t grain_size,
                           void (*body)(int64_t begin, int64_t end, void *context),
                           void *context);

/* ---- loads, stores, lanes ---- */

PPY_INLINE ppy_vec ppy_load(const ppy_real *p) { return *(const ppy_unaligned *)p; }
PPY_INLINE void ppy_store(ppy_real *p, ppy_vec v) { *(ppy_unaligned *)p = v; }
PPY_INLINE ppy_vec ppy_set(ppy_real x) { return x - (ppy_vec){0}; }

PPY_INLINE ppy_vec ppy_select(ppy_mask m, ppy_vec a, ppy_vec b) {
    return (ppy_vec)((m & (ppy_mask)a) | (~m & (ppy_mask)b));
}

/* 1 where the mask holds, 0 elsewhere. */
PPY_INLINE ppy_vec ppy_truth(ppy_mask m) {
    return (ppy_vec)(m & (ppy_mask)ppy_set(1));
}

PPY_INLINE ppy_mask ppy_lane(void) {
    ppy_mask lanes = {0};
    for (int i = 0; i < (int)PPY_LANES; i++) lanes[i] = (ppy_bits)i;
    return lanes;
}

/* The first `count` lanes of v, and `rest` in the others. */
PPY_INLINE ppy_vec ppy_first(ppy_vec v, int64_t count, ppy_real rest) {
    return ppy_select(ppy_lane() < (ppy_bits)(count < PPY_LANES ? count : PPY_LANES), v,
                      ppy_set(rest));
}

/* Load or store at most `count` numbers; what is not loaded is zero. */
PPY_INLINE ppy_vec ppy_load_upto(const ppy_real *p, int64_t count) {
    if (count >= PPY_LANES) return ppy_load(p);
    ppy_vec v = {0};
    memcpy(&v, p, (size_t)count * sizeof *p);
    return v;
}

PPY_INLINE void ppy_store_upto(ppy_real *p, ppy_vec v, int64_t count) {
    if (count >= PPY_LANES) {
        ppy_store(p, v);
        return;
    }
    memcpy(p, &v, (size_t)count * sizeof *p);
}

/* Every lane with the one `distance` away, a power of two. */
PPY_INLINE ppy_vec ppy_swapped(ppy_vec v, ppy_bits distance) {
#ifdef __clang__
    ppy_vec w = v;
    for (int i = 0; i < (int)PPY_LANES; i++) w[i] = v[i ^ distance];
    return w;
#else
    return __builtin_shuffle(v, ppy_lane() ^ distance);
#endif
}

PPY_INLINE ppy_real ppy_lanes_sum(ppy_vec v) {
    for (ppy_bits half = (ppy_bits)PPY_LANES / 2; half; half /= 2) v += ppy_swapped(v, half);
    return v[0];
}

/* ---- comparison ---- */

/* NaN wins, as in torch. */
PPY_INLINE ppy_vec ppy_max(ppy_vec a, ppy_vec b) {
    return ppy_select((a > b) | (a != a), a, b);
}
PPY_INLINE ppy_vec ppy_min(ppy_vec a, ppy_vec b) {
    return ppy_select((a < b) | (a != a), a, b);
}

PPY_INLINE ppy_real ppy_lanes_max(ppy_vec v) {
    for (ppy_bits half = (ppy_bits)PPY_LANES / 2; half; half /= 2)
        v = ppy_max(v, ppy_swapped(v, half));
    return v[0];
}

#define PPY_SIGN_BIT ((ppy_bits)((uint64_t)1 << (sizeof(ppy_bits) * 8 - 1)))
#define PPY_INFINITY ((ppy_real)__builtin_inf())

PPY_INLINE ppy_vec ppy_abs(ppy_vec x) { return (ppy_vec)((ppy_mask)x & ~PPY_SIGN_BIT); }

/* x's sign on the positive number a. */
PPY_INLINE ppy_vec ppy_signed(ppy_vec a, ppy_vec x) {
    return (ppy_vec)((ppy_mask)a | ((ppy_mask)x & PPY_SIGN_BIT));
}

/* -1, 0 or 1; 0 for NaN, as torch.sgn. */
PPY_INLINE ppy_vec ppy_sign(ppy_vec x) {
    return ppy_truth(x > ppy_set(0)) - ppy_truth(x < ppy_set(0));
}

PPY_INLINE ppy_vec ppy_sqrt(ppy_vec x) {
    ppy_vec y = x;
    for (int i = 0; i < (int)PPY_LANES; i++)
        y[i] = sizeof(ppy_real) == 8 ? (ppy_real)__builtin_sqrt((double)x[i])
                                     : (ppy_real)__builtin_sqrtf((float)x[i]);
    return y;
}

PPY_INLINE ppy_vec ppy_floor(ppy_vec x) {
    ppy_vec y = x;
    for (int i = 0; i < (int)PPY_LANES; i++) y[i] = (ppy_real)__builtin_floor((double)x[i]);
    return y;
}

/* ---- exponentials ---- */

#define PPY_MANTISSA PPY_R(23., 52.)
#define PPY_MANTISSA_BITS (sizeof(ppy_real) == 8 ? 52 : 23)
#define PPY_BIAS (sizeof(ppy_real) == 8 ? 1023 : 127)
/* 1.5 * 2**mantissa: adding it rounds to an integer, which stands in the low bits. */
#define PPY_ROUNDER PPY_R(12582912.0, 6755399441055744.0)
#define PPY_LOG2E PPY_R(1.44269504088896341, 1.44269504088896341)
/* ln 2 in two parts; products of the first with small integers are exact. */
#define PPY_LN2_HIGH PPY_R(0.693359375, 0.693147180369123816490)
#define PPY_LN2_LOW PPY_R(-2.12194440054690583e-4, 1.90821492927058770002e-10)

PPY_INLINE ppy_vec ppy_power_of_two(ppy_mask n) {
    return (ppy_vec)((n + (ppy_bits)PPY_BIAS) << PPY_MANTISSA_BITS);
}

/* x = n ln 2 + r with |r| <= ln 2 / 2; gives exp(r) - 1. */
PPY_INLINE ppy_vec ppy_reduced_expm1(ppy_vec x, ppy_mask *n) {
    const ppy_vec shifted = x * PPY_LOG2E + PPY_ROUNDER;
    *n = (ppy_mask)shifted - (ppy_mask)ppy_set(PPY_ROUNDER);
    const ppy_vec whole = shifted - PPY_ROUNDER;
    const ppy_vec r = (x - whole * PPY_LN2_HIGH) - whole * PPY_LN2_LOW;
#if PPY_DOUBLE /* error 1.4e-18 * r**2 */
    ppy_vec p = ppy_set(2.09146793765839351e-9);
    p = p * r + 2.5105206373957011116e-8;
    p = p * r + 2.7557273661348636219e-7;
    p = p * r + 2.7557255425746434282e-6;
    p = p * r + 0.000024801587325533363819;
    p = p * r + 0.00019841269874800491981;
    p = p * r + 0.0013888888888883752417;
    p = p * r + 0.008333333333326140884;
    p = p * r + 0.041666666666666669752;
    p = p * r + 0.16666666666666670986;
    p = p * r + 0.5;
#else /* error 6.5e-8 * r**2 */
    ppy_vec p = ppy_set(0.0013926176119935578884f);
    p = p * r + 0.0083631730745137109028f;
    p = p * r + 0.041666554662050533982f;
    p = p * r + 0.1666657702559798819f;
    p = p * r + 0.5f;
#endif
    return r + r * r * p;
}

PPY_INLINE ppy_vec ppy_exp(ppy_vec x) {
    const ppy_vec low = ppy_set(PPY_R(-104., -746.)), high = ppy_set(PPY_R(89., 710.));
    x = ppy_select(x < low, low, ppy_select(x > high, high, x));
    ppy_mask n;
    const ppy_vec e = ppy_reduced_expm1(x, &n);
    const ppy_mask half = n >> 1; /* twice, so that neither factor leaves the range */
    return (e + 1) * ppy_power_of_two(half) * ppy_power_of_two(n - half);
}

PPY_INLINE ppy_vec ppy_expm1(ppy_vec x) {
    const ppy_vec low = ppy_set(PPY_R(-30., -60.)), high = ppy_set(PPY_R(89., 710.));
    x = ppy_select(x < low, low, ppy_select(x > high, high, x));
    ppy_mask n;
    const ppy_vec e = ppy_reduced_expm1(x, &n);
    const ppy_vec half = ppy_power_of_two(n - 1);
    const ppy_vec y = 2 * (half * e + (half - PPY_R(0.5, 0.5)));
    return ppy_select(x == ppy_set(0), x, y);
}

PPY_INLINE ppy_vec ppy_sigmoid(ppy_vec x) { return 1 / (1 + ppy_exp(-x)); }

PPY_INLINE ppy_vec ppy_tanh(ppy_vec x) {
    const ppy_vec most = ppy_set(PPY_R(10., 20.));
    ppy_vec a = ppy_abs(x);
    a = ppy_select(a > most, most, a);
    const ppy_vec e = ppy_expm1(2 * a);
    return ppy_signed(e / (e + 2), x);
}

/* ---- logarithms ---- */

PPY_INLINE ppy_vec ppy_log(ppy_vec x) {
    const ppy_vec tiny = ppy_set(PPY_R(1.1754943508222875e-38, 2.2250738585072014e-308));
    const ppy_vec scale = ppy_set(PPY_R(8388608., 4503599627370496.));
    const ppy_mask small = x < tiny;
    const ppy_mask bits = (ppy_mask)ppy_select(small, x * scale, x);
    const ppy_mask fraction = bits & ((((ppy_bits)1) << PPY_MANTISSA_BITS) - 1);
    ppy_vec m = (ppy_vec)(fraction | ((ppy_bits)PPY_BIAS << PPY_MANTISSA_BITS));
    ppy_mask n = (bits >> PPY_MANTISSA_BITS) - (ppy_bits)PPY_BIAS;
    n -= small & (ppy_bits)PPY_MANTISSA_BITS;
    const ppy_mask big = m > ppy_set(PPY_R(1.4142135623730951, 1.4142135623730951));
    m = ppy_select(big, m * PPY_R(0.5, 0.5), m);
    n -= big; /* a true lane is -1 */
    const ppy_vec s = (m - 1) / (m + 1), z = s * s;
#if PPY_DOUBLE /* error 3.1e-16 * s**3 */
    ppy_vec p = ppy_set(0.1461644968504340586);
    p = p * z + 0.15331721600556041269;
    p = p * z + 0.1818288912526172208;
    p = p * z + 0.22222211134795079855;
    p = p * z + 0.28571428625975484921;
    p = p * z + 0.3999999999989950449;
    p = p * z + 0.66666666666666696862;
#else /* error 1.9e-7 * s**3 */
    ppy_vec p = ppy_set(0.29579949391972784709f);
    p = p * z + 0.39988780566021981899f;
    p = p * z + 0.66666685039575855022f;
#endif
    const ppy_vec e = __builtin_convertvector(n, ppy_vec);
    ppy_vec y = 2 * s + s * z * p + e * PPY_LN2_LOW + e * PPY_LN2_HIGH;
    y = ppy_select(x == ppy_set(0), ppy_set(-PPY_INFINITY), y);
    y = ppy_select(x < ppy_set(0), ppy_set((ppy_real)__builtin_nan("")), y);
    return ppy_select((x == ppy_set(PPY_INFINITY)) | (x != x), x, y);
}

PPY_INLINE ppy_vec ppy_log1p(ppy_vec x) {
    const ppy_vec u = x + 1, lost = x - (u - 1);
    const ppy_mask counts = (u > ppy_set(0)) & (u < ppy_set(PPY_INFINITY));
    return ppy_log(u) + ppy_select(counts, lost / u, ppy_set(0));
}

/* ---- the error function ---- */

/* erf(x), given exp(-x * x), which those who want erf mostly want as well. */
PPY_INLINE ppy_vec ppy_erf(ppy_vec x, ppy_vec bell) {
    const ppy_vec z = x * x, a = ppy_abs(x);
    const ppy_vec most = ppy_set(PPY_R(4.2, 6.2));
    const ppy_vec b = ppy_select(a > most, most, a);
    const ppy_vec u = (b - 3) / (b + 3);
#if PPY_DOUBLE
    ppy_vec p = ppy_set(9.4285969568341643016e-9); /* |x| < 1: x * p(x**2), error 3.9e-16 */
    p = p * z - 1.5188281247335166921e-7;
    p = p * z + 1.6310356513871741354e-6;
    p = p * z - 0.000014913300906316395732;
    p = p * z + 0.00012054681918310598844;
    p = p * z - 0.00085483048717827406321;
    p = p * z + 0.0052239771541053047203;
    p = p * z - 0.026866170586496872351;
    p = p * z + 0.11283791670580422405;
    p = p * z - 0.37612638903174400293;
    p = p * z + 1.1283791670955121876;
    ppy_vec q = ppy_set(8.3870954502939766514e-7); /* 1 - exp(-x**2) * q(u), error 1.3e-15 */
    q = q * u - 7.6745375952610110039e-6;
    q = q * u - 0.000012315507564692950831;
    q = q * u + 0.00006406205833019293067;
    q = q * u + 0.000045161013151098972208;
    q = q * u - 0.00059706950283344067773;
    q = q * u + 0.00070775450127708464958;
    q = q * u + 0.0042691370766903028038;
    q = q * u - 0.02439249966326787835;
    q = q * u + 0.071665837168889787649;
    q = q * u - 0.15011593649427261737;
    q = q * u + 0.24560380171269620473;
    q = q * u - 0.3262335600430734151;
    q = q * u + 0.17900115118138925617;
#else
    ppy_vec p = ppy_set(-0.00056480598655030436542f); /* error 4.1e-8 */
    p = p * z + 0.0049217620278772309914f;
    p = p * z - 0.026715054232266431172f;
    p = p * z + 0.112803166525050752f;
    p = p * z - 0.37612343775327804412f;
    p = p * z + 1.1283791261787372723f;
    ppy_vec q = ppy_set(0.0013026024703285539301f); /* error 1.8e-9 */
    q = q * u + 0.0043595990858626589626f;
    q = q * u - 0.024452618107135318974f;
    q = q * u + 0.071651783345232179132f;
    q = q * u - 0.15011411724330328455f;
    q = q * u + 0.24560420948274725761f;
    q = q * u - 0.32623357668161864266f;
    q = q * u + 0.17900114955421509343f;
#endif
    const ppy_vec far = ppy_signed(1 - bell * q, x);
    return ppy_select(a < ppy_set(1), x * p, far);
}

/* ---- weights and sums ---- */

/* w[inner][outer] with rows of whole vectors. */
PPY_INLINE void ppy_pack(ppy_real *out, const ppy_real *w, int64_t inner, int64_t outer,
                         int64_t padded) {
    for (int64_t k = 0; k < inner; k++) {
        memcpy(out + k * padded, w + k * outer, (size_t)outer * sizeof *out);
        for (int64_t n = outer; n < padded; n++) out[k * padded + n] = 0;
    }
}

/* The same from w[outer][inner]. */
PPY_INLINE void ppy_pack_transposed(ppy_real *out, const ppy_real *w, int64_t inner,
                                    int64_t outer, int64_t padded) {
    enum { SIDE = 16 }; /* squares that stay in L1 */
    for (int64_t n0 = 0; n0 < padded; n0 += SIDE)
        for (int64_t k = 0; k < inner; k++)
            for (int64_t n = n0; n < n0 + SIDE && n < padded; n++)
                out[k * padded + n] = n < outer ? w[n * inner + k] : 0;
}

/* The sum of every chunk's part[rows][padded], in the chunks' order, as out[rows][width]. */
PPY_INLINE void ppy_combine(ppy_real *out, const ppy_real *part, int64_t chunks,
                            int64_t chunk_size, int64_t rows, int64_t width, int64_t padded) {
    for (int64_t k = 0; k < rows; k++)
        for (int64_t n = 0; n < width; n += PPY_LANES) {
            ppy_vec sum = {0};
            for (int64_t c = 0; c < chunks; c++)
                sum += ppy_load(part + c * chunk_size + k * padded + n);
            ppy_store_upto(out + k * width + n, sum, width - n);
        }
}

PPY_INLINE ppy_real ppy_combine_total(const ppy_real *part, int64_t chunks,
                                      int64_t chunk_size) {
    ppy_vec sum = {0};
    for (int64_t c = 0; c < chunks; c++) sum += ppy_load(part + c * chunk_size);
    return ppy_lanes_sum(sum);
}

#endif
