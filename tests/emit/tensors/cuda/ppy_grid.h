/* Runs kernels of `ppy_cuda_kernel.h` on the processor: block by block, phase by phase, with
 * the blocks and each phase's threads in another order every time. Shared memory starts as
 * NaN, so that reading what nobody wrote shows. */
#ifndef PPY_GRID_H
#define PPY_GRID_H

#include <cmath>
#include <cstdint>
#include <cstring>

struct ppy_order {
    /* Numbers 0 to count - 1, shuffled anew by `next` (xorshift, Marsaglia 2003). */
    uint64_t state = 0x9e3779b97f4a7c15u;
    uint64_t next() {
        state ^= state << 13;
        state ^= state >> 7;
        return state ^= state << 17;
    }
    void shuffle(int *numbers, int count) {
        for (int i = 0; i < count; i++) numbers[i] = i;
        for (int i = count - 1; i > 0; i--) {
            const int k = (int)(next() % (uint64_t)(i + 1)), kept = numbers[i];
            numbers[i] = numbers[k];
            numbers[k] = kept;
        }
    }
};

static ppy_order ppy_shuffler;
static int ppy_threads[PPY_THREADS];

static void ppy_poison(ppy_real *memory, int count) {
    for (int i = 0; i < count; i++) memory[i] = (ppy_real)NAN;
}

#define PPY_DEVICE static inline
/* What the fake driver takes for a function. */
struct ppy_kernel {
    int bytes; /* of its argument */
    /* Whether no demand has failed. */
    bool (*run)(const void *words, int blocks, int threads);
};

static bool ppy_holds;

#define PPY_KERNEL(name) \
    static void name##_block(const ppy_words &r, int64_t ppy_block, int64_t ppy_blocks); \
    static bool name##_grid(const void *words, int blocks, int threads) { \
        if (threads != PPY_THREADS) __builtin_trap(); \
        ppy_words r; \
        memcpy(&r, words, sizeof r); \
        ppy_holds = true; \
        int *const order = new int[blocks]; \
        ppy_shuffler.shuffle(order, blocks); \
        for (int i = 0; i < blocks; i++) name##_block(r, order[i], blocks); \
        delete[] order; \
        return ppy_holds; \
    } \
    extern "C" { \
    extern const ppy_kernel name; \
    const ppy_kernel name = {sizeof(ppy_words), name##_grid}; \
    } \
    static void name##_block( \
        [[maybe_unused]] const ppy_words &r, [[maybe_unused]] int64_t ppy_block, \
        [[maybe_unused]] int64_t ppy_blocks)
#define PPY_SHARED(name, count) \
    ppy_real name[count]; \
    ppy_poison(name, count)
#define PPY_BLOCK ppy_block
#define PPY_BLOCKS ppy_blocks
#define PPY_PHASE \
    ppy_shuffler.shuffle(ppy_threads, PPY_THREADS); \
    for (int ppy_turn = 0; ppy_turn < PPY_THREADS; ppy_turn++) { \
        [[maybe_unused]] const int thread = ppy_threads[ppy_turn];
#define PPY_BARRIER }
#define PPY_WARP_PHASE \
    ppy_shuffler.shuffle(ppy_threads, PPY_THREADS / 32); \
    for (int ppy_turn = 0; ppy_turn < PPY_THREADS / 32; ppy_turn++) { \
        [[maybe_unused]] const int warp = ppy_threads[ppy_turn];
#define PPY_LANES 32
#define PPY_ROLLED
#define PPY_LANE(held) (held)
#define PPY_DEMAND(condition, text) \
    if (!(condition)) { \
        ppy_holds = false; \
        return; \
    }

/* ---- tensor cores, by the PTX ISA ---- */

#define PPY_TENSOR_CORES 1

/* To the nearest number with 10 bits of fraction, ties away from zero. */
PPY_DEVICE uint32_t ppy_tf32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return std::isfinite(x) ? (bits + 0x1000) & ~0x1fffu : bits;
}

/* mma.m16n8k8 of TF32: figures 81 to 83 of "Matrix Fragments for mma.m16n8k8". */
PPY_DEVICE void ppy_mma(float (*sum)[4], const uint32_t (*a)[4], const uint32_t (*b)[2]) {
    float left[16][8], right[8][8];
    for (int lane = 0; lane < 32; lane++) {
        const int group = lane / 4, place = lane % 4;
        memcpy(&left[group][place], &a[lane][0], 4);
        memcpy(&left[group + 8][place], &a[lane][1], 4);
        memcpy(&left[group][place + 4], &a[lane][2], 4);
        memcpy(&left[group + 8][place + 4], &a[lane][3], 4);
        memcpy(&right[place][group], &b[lane][0], 4);
        memcpy(&right[place + 4][group], &b[lane][1], 4);
    }
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            const int row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + (i & 1);
            for (int k = 0; k < 8; k++) sum[lane][i] += left[row][k] * right[k][column];
        }
}

#endif
