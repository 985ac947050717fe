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
    void (*run)(const void *words, int blocks, int threads);
};

#define PPY_KERNEL(name) \
    static void name##_block(const ppy_words &r, int64_t ppy_block, int64_t ppy_blocks); \
    static void name##_grid(const void *words, int blocks, int threads) { \
        if (threads != PPY_THREADS) __builtin_trap(); \
        ppy_words r; \
        memcpy(&r, words, sizeof r); \
        int *const order = new int[blocks]; \
        ppy_shuffler.shuffle(order, blocks); \
        for (int i = 0; i < blocks; i++) name##_block(r, order[i], blocks); \
        delete[] order; \
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

#endif
