/* What kernels are made of: types, the run, and arithmetic with Python's meaning.
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
#define PPY_INLINE inline __attribute__((always_inline))

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

/* Memory that a kernel has made for a buffer of its own; it follows the header. */
typedef struct ppy_made {
    struct ppy_made *earlier;
    size_t bytes; /* room */
} ppy_made;

/* One call from Python, shared by the kernels that it reaches. */
typedef struct ppy_run {
    ppy_saved *saved;             /* the latest copy */
    int64_t depth;                /* Python frames that may still be entered below */
    int64_t ticks;                /* loop turns until signals are looked at */
    int (*poll)(struct ppy_run *); /* PPY_OK or PPY_RAISED; may be NULL */
    bool (*ask)(int function, const double *values, int64_t count, double *result);
                                  /* CPython's own answer, false where it raises; may be NULL */
    ppy_made *made;               /* the latest */
} ppy_run;

/* What may be asked: functions that CPython computes with algorithms of its own. */
enum {
    PPY_GAMMA,
    PPY_LGAMMA,
    PPY_HYPOT,
    PPY_DIST,  /* between the first half of the values and the second */
    PPY_ROUND, /* of a number, to so many digits */
    PPY_ISALPHA, /* of a character, as are those that follow */
    PPY_ISDIGIT,
    PPY_ISDECIMAL,
    PPY_ISNUMERIC,
    PPY_ISALNUM,
    PPY_ISSPACE,
    PPY_ISUPPER,
    PPY_ISLOWER,
    PPY_LOWER,
    PPY_UPPER,
    PPY_ASKED, /* how many these are */
};

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

/* Buffers of the kernel's own. */

static inline ppy_made *ppy_header(void *data) { return data ? (ppy_made *)data - 1 : NULL; }

/* Frees what was made after `before`. */
static inline PPY_COLD void ppy_unmake(ppy_run *run, ppy_made *before) {
    while (run->made != before) {
        ppy_made *at = run->made;
        run->made = at->earlier;
        free(at);
    }
}

/* Where the run keeps the address of a header. */
static inline ppy_made **ppy_link(ppy_run *run, ppy_made *made) {
    ppy_made **place = &run->made;
    while (*place != made) place = &(*place)->earlier;
    return place;
}

/* `bytes` zeros in place of `data`, which is NULL at first; NULL without memory. */
static inline PPY_COLD void *ppy_make(ppy_run *run, void *data, size_t bytes) {
    ppy_made *made = ppy_header(data);
    if (made && made->bytes >= bytes) return memset(data, 0, bytes);
    if (made) {
        *ppy_link(run, made) = made->earlier;
        free(made);
    }
    bytes = bytes < 64 ? 64 : bytes;
    made = bytes <= SIZE_MAX / 2 ? calloc(1, sizeof *made + bytes) : NULL;
    if (!made) return NULL;
    *made = (ppy_made){run->made, bytes};
    run->made = made;
    return made + 1;
}

/* More room for `data`, half as much again at least; NULL without memory. */
static inline PPY_COLD void *ppy_enlarge(ppy_run *run, void *data, size_t bytes) {
    ppy_made *made = ppy_header(data), **place = ppy_link(run, made);
    const size_t room = made->bytes + made->bytes / 2;
    bytes = bytes < room ? room : bytes;
    made = bytes <= SIZE_MAX / 2 ? realloc(made, sizeof *made + bytes) : NULL;
    if (!made) return NULL;
    made->bytes = bytes;
    *place = made;
    return made + 1;
}

/* What `count` elements take; more than there is where that does not fit. */
static inline size_t ppy_bytes_of(int64_t count, size_t size) {
    return (uint64_t)count > SIZE_MAX / 4 / size ? SIZE_MAX : (size_t)count * size;
}

/* In a kernel: zeros for a buffer of its own, `count` of them. */
#define PPY_MAKE(run, buffer, count) \
    do { \
        const int64_t ppy_count = (count); \
        (buffer).data = ppy_make(run, (buffer).data, ppy_bytes_of(ppy_count, sizeof *(buffer).data)); \
        PPY_GUARD((buffer).data != NULL); \
        (buffer).length = ppy_count; \
    } while (0)

/* In a kernel: another length for a buffer of its own. */
#define PPY_RESIZE(run, buffer, count) \
    do { \
        const int64_t ppy_count = (count); \
        const size_t ppy_wanted = ppy_bytes_of(ppy_count, sizeof *(buffer).data); \
        if (PPY_UNLIKELY(ppy_wanted > ppy_header((buffer).data)->bytes)) { \
            void *ppy_data = ppy_enlarge(run, (buffer).data, ppy_wanted); \
            PPY_GUARD(ppy_data != NULL); \
            (buffer).data = ppy_data; \
        } \
        (buffer).length = ppy_count; \
    } while (0)

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
    if (restore) ppy_unmake(run, NULL);
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

#include "ppy_int.h"
#include "ppy_float.h"
#include "ppy_math.h"
#include "ppy_str.h"

#endif
