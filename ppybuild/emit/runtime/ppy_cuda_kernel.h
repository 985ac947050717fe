/* What generated CUDA kernels stand on: blocks, phases between barriers, and mathematics.
 *
 * Before including, define
 *   PPY_DOUBLE   1 for float64, 0 for float32
 *   PPY_THREADS  threads of a block, a power of two
 *   PPY_WORDS    words of a kernel's argument
 *
 * A kernel is control that all threads of a block share, with phases in it:
 *
 *     PPY_KERNEL(name) {
 *         PPY_SHARED(shared, 64 * 16);        the block's own memory, one piece
 *         for (...) {
 *             PPY_PHASE        each thread's own work; `thread` is its number
 *             PPY_BARRIER      nobody goes on before all have come here
 *             PPY_WARP_PHASE   what the lanes of a warp do together; `warp` is its number
 *             PPY_BARRIER
 *         }
 *     }
 *
 * Nothing that a thread computes outlives its phase but what it writes to memory. So any
 * order of the threads gives the same, and a C++ compiler can run a kernel thread by thread:
 * the tests' `ppy_grid.h` does that. There, a warp's phase holds the numbers of all its lanes,
 * PPY_LANES of them, where on the card each lane holds its own.
 */
#ifndef PPY_CUDA_KERNEL_H
#define PPY_CUDA_KERNEL_H

#include <cassert>
#include <cmath>
#include <cstdint>

#if PPY_DOUBLE
typedef double ppy_real;
#else
typedef float ppy_real;
#endif

/* Pointers of inputs and outputs, and numbers, as the launcher lays them down. */
struct ppy_words {
    uint64_t word[PPY_WORDS];
};

#ifdef __CUDACC__

#define PPY_DEVICE static __device__ __forceinline__
/* Three blocks of a multiprocessor at once: with 256 threads, 80 registers each. Left to
 * itself, the compiler takes fewer, and keeps numbers in memory instead. */
#define PPY_KERNEL(name) \
    extern "C" __global__ void __launch_bounds__(PPY_THREADS, 3) \
        name(const __grid_constant__ ppy_words r)
#define PPY_SHARED(name, count) extern __shared__ ppy_real name[] /* bytes given at launch */
#define PPY_BLOCK ((int64_t)blockIdx.x)
#define PPY_BLOCKS ((int64_t)gridDim.x)
#define PPY_PHASE \
    { \
        const int thread = (int)threadIdx.x;
#define PPY_BARRIER \
    } \
    __syncthreads();
#define PPY_WARP_PHASE \
    { \
        const int warp = (int)threadIdx.x / 32;
#define PPY_LANES 1
#define PPY_ROLLED _Pragma("unroll 1") /* for a loop whose body is long enough */
#define PPY_LANE(held) ((int)threadIdx.x % 32 + (held))
/* Ends the kernel, and all later work on the card, as a failed assertion does. */
#define PPY_DEMAND(condition, text) \
    if (!(condition)) { \
        if (threadIdx.x == 0) __assert_fail(text, __FILE__, __LINE__, __func__); \
        return; \
    }

/* Products of numbers rounded to TF32 (PTX ISA, mma.m16n8k8): from sm_80 on. */
#if __CUDA_ARCH__ >= 800
#define PPY_TENSOR_CORES 1
PPY_DEVICE uint32_t ppy_tf32(float x) {
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}
/* sum[16][8] += a[16][8] @ b[8][8], a lane's share of each: see `ppy_tensor_product`. */
PPY_DEVICE void ppy_mma(
    float (*sum)[4], const uint32_t (*a)[4], const uint32_t (*b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0][0]), "+f"(sum[0][1]), "+f"(sum[0][2]), "+f"(sum[0][3])
        : "r"(a[0][0]), "r"(a[0][1]), "r"(a[0][2]), "r"(a[0][3]), "r"(b[0][0]), "r"(b[0][1]));
}
#else
#define PPY_TENSOR_CORES 0
PPY_DEVICE uint32_t ppy_tf32(float) { return 0; }
PPY_DEVICE void ppy_mma(float (*)[4], const uint32_t (*)[4], const uint32_t (*)[2]) {}
#endif

#else
#include "ppy_grid.h"
#endif

/* ---- words ---- */

#define PPY_REALS(k) ((ppy_real *)(uintptr_t)r.word[k])
#define PPY_INDICES(k) ((const int64_t *)(uintptr_t)r.word[k])
#define PPY_BOOLS(k) ((const uint8_t *)(uintptr_t)r.word[k])
#define PPY_INT(k) ((int64_t)r.word[k])

PPY_DEVICE double ppy_as_double(uint64_t word) {
    union {
        uint64_t word;
        double number;
    } bits = {word};
    return bits.number;
}

/* ---- mathematics, by the names of ppy_fused.h, for one number ---- */

#define PPY_INFINITY ((ppy_real)INFINITY)
#define ppy_set(x) ((ppy_real)(x))
#define ppy_select(condition, a, b) ((condition) ? (a) : (b))
#define ppy_truth(condition) ((condition) ? (ppy_real)1 : (ppy_real)0)

/* NaN wins, as in torch. */
PPY_DEVICE ppy_real ppy_max(ppy_real a, ppy_real b) { return a > b || a != a ? a : b; }
PPY_DEVICE ppy_real ppy_min(ppy_real a, ppy_real b) { return a < b || a != a ? a : b; }
/* -1, 0 or 1; 0 for NaN, as torch.sgn. */
PPY_DEVICE ppy_real ppy_sign(ppy_real x) { return ppy_truth(x > 0) - ppy_truth(x < 0); }

PPY_DEVICE ppy_real ppy_abs(ppy_real x) { return std::fabs(x); }
PPY_DEVICE ppy_real ppy_sqrt(ppy_real x) { return std::sqrt(x); }
PPY_DEVICE ppy_real ppy_floor(ppy_real x) { return std::floor(x); }
PPY_DEVICE ppy_real ppy_exp(ppy_real x) { return std::exp(x); }
PPY_DEVICE ppy_real ppy_expm1(ppy_real x) { return std::expm1(x); }
PPY_DEVICE ppy_real ppy_log(ppy_real x) { return std::log(x); }
PPY_DEVICE ppy_real ppy_log1p(ppy_real x) { return std::log1p(x); }
PPY_DEVICE ppy_real ppy_tanh(ppy_real x) { return std::tanh(x); }
PPY_DEVICE ppy_real ppy_sigmoid(ppy_real x) { return 1 / (1 + std::exp(-x)); }
PPY_DEVICE ppy_real ppy_pow(ppy_real x, ppy_real y) { return std::pow(x, y); }
/* exp(-x * x) is at hand for the CPU's form, and not needed here. */
PPY_DEVICE ppy_real ppy_erf(ppy_real x, ppy_real) { return std::erf(x); }

/* ---- products ---- */

/* out[rows][N] = a[rows][K] @ w[K][N], HEIGHT rows by WIDTH columns a thread at a time.
 * Neighbours take neighbouring columns, so that they read w together. */
template <int HEIGHT, int WIDTH, int K, int N>
PPY_DEVICE void ppy_product(
    int thread, ppy_real *out, const ppy_real *a, const ppy_real *w, int rows) {
    constexpr int ACROSS = (N + WIDTH - 1) / WIDTH;
    const int items = (rows + HEIGHT - 1) / HEIGHT * ACROSS;
    for (int item = thread; item < items; item += PPY_THREADS) {
        const int column = item % ACROSS, top = item / ACROSS * HEIGHT;
        ppy_real sum[HEIGHT][WIDTH] = {};
        for (int k = 0; k < K; k++) {
            ppy_real b[WIDTH];
            for (int j = 0; j < WIDTH; j++) {
                const int n = column + j * ACROSS;
                b[j] = n < N ? w[k * N + n] : 0;
            }
            for (int i = 0; i < HEIGHT; i++) {
                const ppy_real x = top + i < rows ? a[(top + i) * K + k] : 0;
                for (int j = 0; j < WIDTH; j++) sum[i][j] += x * b[j];
            }
        }
        for (int i = 0; i < HEIGHT && top + i < rows; i++)
            for (int j = 0; j < WIDTH; j++)
                if (column + j * ACROSS < N) out[(top + i) * N + column + j * ACROSS] = sum[i][j];
    }
}

/* sums[K][N] (+)= a[rows][K].T @ g[rows][N], HEIGHT by WIDTH sums a thread at a time. */
template <int HEIGHT, int WIDTH, int K, int N>
PPY_DEVICE void ppy_outer(
    int thread, ppy_real *sums, const ppy_real *a, const ppy_real *g, int rows, bool fresh) {
    constexpr int ACROSS = (N + WIDTH - 1) / WIDTH, DOWN = (K + HEIGHT - 1) / HEIGHT;
    for (int item = thread; item < ACROSS * DOWN; item += PPY_THREADS) {
        const int column = item % ACROSS, top = item / ACROSS * HEIGHT;
        ppy_real sum[HEIGHT][WIDTH] = {};
        for (int t = 0; t < rows; t++) {
            ppy_real b[WIDTH];
            for (int j = 0; j < WIDTH; j++) {
                const int n = column + j * ACROSS;
                b[j] = n < N ? g[t * N + n] : 0;
            }
            for (int i = 0; i < HEIGHT; i++) {
                const ppy_real x = top + i < K ? a[t * K + top + i] : 0;
                for (int j = 0; j < WIDTH; j++) sum[i][j] += x * b[j];
            }
        }
        for (int i = 0; i < HEIGHT && top + i < K; i++)
            for (int j = 0; j < WIDTH; j++) {
                const int n = column + j * ACROSS;
                if (n < N) {
                    ppy_real *const to = sums + (top + i) * N + n;
                    *to = fresh ? sum[i][j] : *to + sum[i][j];
                }
            }
    }
}

#if !PPY_DOUBLE

/* out[M][N] (+)= a[M][K] @ b[K][N] on tensor cores, for any M, N and K: what is outside counts
 * as zero. `a` lies with steps of DOWN and INTO, `b` and `out` with rows of N. A warp takes 16
 * rows and BLOCKS times 8 columns at a time. Of each 8 by 8 block, lane 4 * g + t has
 *     a     rows g and g + 8, columns t and t + 4
 *     b     rows t and t + 4, column g
 *     sums  rows g and g + 8, columns 2 * t and 2 * t + 1 */
template <int BLOCKS, int N, int DOWN, int INTO>
PPY_DEVICE void ppy_tensor_product(
    int warp, float *out, const float *a, const float *b, int m, int inner, bool fresh) {
    constexpr int ACROSS = (N + 8 * BLOCKS - 1) / (8 * BLOCKS);
    const int items = (m + 15) / 16 * ACROSS;
    for (int item = warp; item < items; item += PPY_THREADS / 32) {
        const int top = item / ACROSS * 16, left = item % ACROSS * 8 * BLOCKS;
        float sum[BLOCKS][PPY_LANES][4] = {};
        PPY_ROLLED for (int k = 0; k < inner; k += 8) {
            uint32_t x[PPY_LANES][4], y[BLOCKS][PPY_LANES][2];
            for (int held = 0; held < PPY_LANES; held++) {
                const int g = PPY_LANE(held) / 4, t = PPY_LANE(held) % 4;
                for (int i = 0; i < 4; i++) {
                    const int row = top + g + i % 2 * 8, at = k + t + i / 2 * 4;
                    x[held][i] =
                        ppy_tf32(row < m && at < inner ? a[row * DOWN + at * INTO] : 0);
                }
                for (int block = 0; block < BLOCKS; block++)
                    for (int i = 0; i < 2; i++) {
                        const int at = k + t + i * 4, column = left + block * 8 + g;
                        y[block][held][i] =
                            ppy_tf32(at < inner && column < N ? b[at * N + column] : 0);
                    }
            }
            for (int block = 0; block < BLOCKS; block++) ppy_mma(sum[block], x, y[block]);
        }
        for (int held = 0; held < PPY_LANES; held++) {
            const int g = PPY_LANE(held) / 4, t = PPY_LANE(held) % 4;
            for (int block = 0; block < BLOCKS; block++)
                for (int i = 0; i < 4; i++) {
                    const int row = top + g + i / 2 * 8, column = left + block * 8 + 2 * t + i % 2;
                    if (row < m && column < N) {
                        float *const to = out + row * N + column;
                        *to = fresh ? sum[block][held][i] : *to + sum[block][held][i];
                    }
                }
        }
    }
}

#endif

#endif
