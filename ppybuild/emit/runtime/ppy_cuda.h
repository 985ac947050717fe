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
    const int64_t *checks; /* places in scratch that must hold zero, or Python has to answer */
    int64_t tile, most_chunks;
    int64_t scratch, chunk_sums; /* numbers of scratch: in all, and for each chunk */
    int real;                    /* bytes of a number */
} ppy_cuda_region;

enum { PPY_CUDA_DEVICES = 64, PPY_CUDA_MESSAGE = 512 };

struct ppy_cuda_kernels;

/* A region's image, and what is loaded of it, by device. Starts as {image}. */
typedef struct {
    const void *image;
    struct ppy_cuda_kernels *on[PPY_CUDA_DEVICES];
} ppy_cuda_program;

typedef enum {
    PPY_CUDA_DONE,     /* the outputs will be there when the stream has come so far */
    PPY_CUDA_ANSWER,   /* an index is out of range: Python has to answer */
    PPY_CUDA_UNUSABLE, /* nothing has run: no driver, or no code for this card or driver */
    PPY_CUDA_MEMORY,   /* the card has no memory left */
    PPY_CUDA_BROKEN,   /* the driver refused, or work on the card failed before */
} ppy_cuda_result;

/* Bytes of scratch for `batch` rows. */
int64_t ppy_cuda_scratch(const ppy_cuda_region *region, int64_t batch);

/* Run on `stream` of `device`. `inputs` and `outputs`: addresses on the card, and of host
 * numbers for inputs that are numbers. Waits for the card only where the region has checks.
 * The device that was current is current again afterwards. `why` gets the reason in words
 * where the result is neither DONE nor ANSWER. Safe to call from several threads. */
ppy_cuda_result ppy_cuda_run(const ppy_cuda_region *region, ppy_cuda_program *program,
                             int device, void *stream, void *const *inputs,
                             void *const *outputs, int64_t batch, void *scratch,
                             char why[PPY_CUDA_MESSAGE]);

#ifdef __cplusplus
}
#endif

#endif
