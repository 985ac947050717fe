/* Runs a region's kernels on a GPU: finds the driver, loads each image once a device, launches
 * in order, and where a region is called again, launches all of its kernels as one graph.
 *
 * Only the driver's library is used (libcuda.so.1, opened when it is first needed), so a
 * bundle starts where there is none.
 */
#ifndef PPY_CUDA_H
#define PPY_CUDA_H

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel, its blocks (0: one for each chunk of the rows), and bytes of shared memory. */
typedef struct {
    const char *kernel;
    int blocks, shared;
} ppy_cuda_launch;

/* What `emit/tensors/cuda` says of a region. Lists end with -1. */
typedef struct {
    const ppy_cuda_launch *launches;
    int count;
    int threads; /* of a block */
    int inputs, outputs;
    const int *numbers;    /* inputs that are numbers: 8 bytes each, passed themselves */
    int64_t tile, most_chunks;
    int64_t scratch, chunk_sums; /* numbers of scratch: in all, and for each chunk */
    int real;                    /* bytes of a number */
} ppy_cuda_region;

enum { PPY_CUDA_DEVICES = 64, PPY_CUDA_MESSAGE = 512 };

struct ppy_cuda_kernels;

/* A region's image, and what is loaded of it, by device. Starts as {image, {}, 0}. */
typedef struct {
    const void *image;
    struct ppy_cuda_kernels *on[PPY_CUDA_DEVICES];
    uint64_t refused; /* a bit for each device where it was UNUSABLE; changed atomically */
} ppy_cuda_program;

/* Whether the region is known to be of no use on the device. */
static inline int ppy_cuda_refused(const ppy_cuda_program *program, int device) {
    return __atomic_load_n(&program->refused, __ATOMIC_RELAXED) >> (device & 63) & 1;
}

typedef enum {
    PPY_CUDA_DONE,     /* the outputs will be there when the stream has come so far */
    PPY_CUDA_UNUSABLE, /* nothing has run: no driver, or no code for this card or driver */
    PPY_CUDA_MEMORY,   /* the card has no memory left */
    PPY_CUDA_BROKEN,   /* the driver refused, or work on the card failed before */
} ppy_cuda_result;

/* Bytes of scratch for `batch` rows. */
int64_t ppy_cuda_scratch(const ppy_cuda_region *region, int64_t batch);

/* Run on `stream` of `device`. `inputs` and `outputs`: addresses on the card, and of host
 * numbers for inputs that are numbers. `tf32`: whether products may round what they multiply
 * to that. Never waits for the card. The device that was current is current again afterwards.
 * `why` gets the reason in words where the result is not DONE. Safe to call from several
 * threads. */
ppy_cuda_result ppy_cuda_run(const ppy_cuda_region *region, ppy_cuda_program *program,
                             int device, void *stream, void *const *inputs,
                             void *const *outputs, int64_t batch, void *scratch, int tf32,
                             char why[PPY_CUDA_MESSAGE]);

#ifdef __cplusplus
}
#endif

#endif
