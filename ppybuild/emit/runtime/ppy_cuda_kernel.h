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
 *         }
 *     }
 *
 * Nothing that a thread computes outlives its phase but what it writes to memory. So any
 * order of the threads gives the same, and a C++ compiler can run a kernel thread by thread:
 * the tests' `ppy_grid.h` does that.
 */
#ifndef PPY_CUDA_KERNEL_H
#define PPY_CUDA_KERNEL_H

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
#define PPY_KERNEL(name) \
    extern "C" __global__ void __launch_bounds__(PPY_THREADS) \
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

#endif
