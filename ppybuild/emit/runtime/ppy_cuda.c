/* See ppy_cuda.h. Types and numbers are those of the CUDA driver API, 12.0 and later
 * (https://docs.nvidia.com/cuda/cuda-driver-api/). */
#include "ppy_cuda.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the driver ---- */

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;

/* CUDA_KERNEL_NODE_PARAMS_v2 */
typedef struct {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams;
    void **extra;
    void *kern;
    CUcontext ctx;
} KernelNode;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222,
    CAPABILITY_MAJOR = 75,
    CAPABILITY_MINOR = 76,
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    MOST_SHARED_BYTES = 97, /* of a block that asks for it */
};

/* Name, arguments: one row for each function of the driver that is called here. */
#define DRIVER(F) \
    F(cuInit, (unsigned int)) \
    F(cuDeviceGet, (CUdevice *, int)) \
    F(cuDeviceGetAttribute, (int *, int, CUdevice)) \
    F(cuDriverGetVersion, (int *)) \
    F(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice)) \
    F(cuCtxPushCurrent_v2, (CUcontext)) \
    F(cuCtxPopCurrent_v2, (CUcontext *)) \
    F(cuModuleLoadData, (CUmodule *, const void *)) \
    F(cuModuleUnload, (CUmodule)) \
    F(cuFuncSetAttribute, (CUfunction, int, int)) \
    F(cuModuleGetFunction, (CUfunction *, CUmodule, const char *)) \
    F(cuLaunchKernel, (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, \
                       unsigned int, unsigned int, unsigned int, CUstream, void **, void **)) \
    F(cuStreamIsCapturing, (CUstream, int *)) \
    F(cuGraphCreate, (CUgraph *, unsigned int)) \
    F(cuGraphDestroy, (CUgraph)) \
    F(cuGraphAddKernelNode_v2, \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const KernelNode *)) \
    F(cuGraphExecDestroy, (CUgraphExec)) \
    F(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long)) \
    F(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, CUgraphNode, const KernelNode *)) \
    F(cuGraphLaunch, (CUgraphExec, CUstream)) \
    F(cuGetErrorString, (CUresult, const char **))

#define FIELD(name, arguments) CUresult(*name) arguments;
static struct {
    DRIVER(FIELD)
} driver;
#undef FIELD

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guards everything below, and each program's table. */

static int opened; /* 1: the driver is there; -1: it is not, and `missing` says why */
static char missing[PPY_CUDA_MESSAGE];
static CUcontext contexts[PPY_CUDA_DEVICES];

/* ---- a region on a device ---- */

/* One of its kernels. */
typedef struct {
    CUfunction function;
    CUgraphNode node; /* where there is a graph */
} Kernel;

struct ppy_cuda_kernels {
    char unusable[PPY_CUDA_MESSAGE]; /* empty where the image is loaded */
    bool called;
    CUgraph graph; /* kept with its exec, whose nodes it names */
    CUgraphExec exec;
    uint64_t *words; /* of the graph's last launch */
    unsigned chunks;
    pthread_mutex_t lock; /* from the change of the graph's nodes to its launch */
    Kernel each[];        /* one for each of the region's launches */
};

/* One run. */
typedef struct {
    const ppy_cuda_region *region;
    struct ppy_cuda_kernels *kernels;
    CUstream stream;
    uint64_t *words;
    int count; /* words */
    int64_t chunk;
    unsigned chunks;
    char *why;
} Run;

static ppy_cuda_result failed(char *why, const char *what, CUresult code) {
    const char *text = NULL;
    if (driver.cuGetErrorString == NULL || driver.cuGetErrorString(code, &text) != SUCCESS)
        text = NULL;
    snprintf(why, PPY_CUDA_MESSAGE, "%s: %s (CUDA error %d)", what,
             text ? text : "unknown error", code);
    return code == OUT_OF_MEMORY ? PPY_CUDA_MEMORY : PPY_CUDA_BROKEN;
}

static int open_driver(void) {
    if (opened) return opened;
    opened = -1;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(missing, sizeof missing,
                 "no NVIDIA driver was found: libcuda.so.1 cannot be loaded");
        return opened;
    }
#define FIND(name, arguments) \
    *(void **)&driver.name = dlsym(library, #name); \
    if (driver.name == NULL) { \
        snprintf(missing, sizeof missing, \
                 "the NVIDIA driver is too old: it has no %s; install one for CUDA 12 or later", \
                 #name); \
        return opened; \
    }
    DRIVER(FIND)
#undef FIND
    const CUresult code = driver.cuInit(0);
    if (code != SUCCESS) {
        failed(missing, "the NVIDIA driver does not start", code);
        return opened;
    }
    return opened = 1;
}

static CUresult open_context(int device, CUcontext *context) {
    if (contexts[device] == NULL) {
        CUdevice handle;
        CUresult code = driver.cuDeviceGet(&handle, device);
        if (code == SUCCESS) code = driver.cuDevicePrimaryCtxRetain(&contexts[device], handle);
        if (code != SUCCESS) return code;
    }
    *context = contexts[device];
    return SUCCESS;
}

static bool has_no_code(CUresult code) {
    return code == NO_BINARY_FOR_GPU || code == INVALID_PTX || code == UNSUPPORTED_PTX_VERSION;
}

/* Why the image cannot be used on this card, by its capability and the driver's version. */
static void describe_card(char *why, int device, CUresult code) {
    CUdevice handle = 0;
    int major = 0, minor = 0, version = 0;
    driver.cuDeviceGet(&handle, device);
    driver.cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, handle);
    driver.cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, handle);
    driver.cuDriverGetVersion(&version);
    const char *fix = code == UNSUPPORTED_PTX_VERSION
                          ? "install a newer driver, or add the card to `[device.cuda] arch`"
                          : "add the card to `[device.cuda] arch` and build again";
    snprintf(why, PPY_CUDA_MESSAGE,
             "the bundle has no code for this card (sm_%d%d, driver for CUDA %d.%d): %s", major,
             minor, version / 1000, version % 1000 / 10, fix);
}

static CUresult find_kernel(CUmodule module, const ppy_cuda_launch *launch, Kernel *kernel) {
    const CUresult code =
        driver.cuModuleGetFunction(&kernel->function, module, launch->kernel);
    if (code != SUCCESS) return code;
    return driver.cuFuncSetAttribute(kernel->function, MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     launch->shared);
}

static bool fits(int device, const ppy_cuda_region *region) {
    CUdevice handle = 0;
    int most = 0;
    if (driver.cuDeviceGet(&handle, device) != SUCCESS ||
        driver.cuDeviceGetAttribute(&most, MOST_SHARED_BYTES, handle) != SUCCESS)
        return true; /* then the driver says so for each kernel */
    for (int i = 0; i < region->count; i++)
        if (region->launches[i].shared > most) return false;
    return true;
}

/* The kernels on the device whose context is current. */
static ppy_cuda_result load(const ppy_cuda_region *region, ppy_cuda_program *program,
                            int device, char *why) {
    const size_t each = (size_t)region->count * sizeof(Kernel);
    struct ppy_cuda_kernels *kernels = calloc(1, sizeof *kernels + each);
    if (kernels == NULL) {
        snprintf(why, PPY_CUDA_MESSAGE, "the processor has no memory left");
        return PPY_CUDA_BROKEN;
    }
    CUmodule module = NULL;
    CUresult code = driver.cuModuleLoadData(&module, program->image);
    if (has_no_code(code)) {
        describe_card(kernels->unusable, device, code);
    } else if (code != SUCCESS) {
        free(kernels);
        return failed(why, "a region cannot be loaded onto the GPU", code);
    } else if (!fits(device, region)) {
        snprintf(kernels->unusable, PPY_CUDA_MESSAGE,
                 "the card has too little shared memory for %s", region->launches[0].kernel);
        driver.cuModuleUnload(module);
        code = INVALID_VALUE;
    }
    for (int i = 0; i < region->count && code == SUCCESS; i++) {
        code = find_kernel(module, &region->launches[i], &kernels->each[i]);
        if (code != SUCCESS) {
            driver.cuModuleUnload(module);
            free(kernels);
            return failed(why, "a kernel cannot be had from its image", code);
        }
    }
    pthread_mutex_init(&kernels->lock, NULL);
    program->on[device] = kernels;
    return PPY_CUDA_DONE;
}

/* ---- launching ---- */

static unsigned blocks(const Run *run, int i) {
    const int fixed = run->region->launches[i].blocks;
    return fixed ? (unsigned)fixed : run->chunks;
}

static ppy_cuda_result launch_each(const Run *run) {
    for (int i = 0; i < run->region->count; i++) {
        const unsigned count = blocks(run, i);
        void *parameters[] = {run->words};
        if (count == 0) continue; /* no rows */
        const CUresult code = driver.cuLaunchKernel(
            run->kernels->each[i].function, count, 1, 1, (unsigned)run->region->threads, 1, 1,
            (unsigned)run->region->launches[i].shared, run->stream, parameters, NULL);
        if (code != SUCCESS) return failed(run->why, "a kernel cannot be launched", code);
    }
    return PPY_CUDA_DONE;
}

static KernelNode node(const Run *run, int i, void **parameters) {
    return (KernelNode){
        .func = run->kernels->each[i].function,
        .gridDimX = blocks(run, i),
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = (unsigned)run->region->threads,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = (unsigned)run->region->launches[i].shared,
        .kernelParams = parameters,
    };
}

static void drop_graph(struct ppy_cuda_kernels *kernels) {
    if (kernels->exec != NULL) driver.cuGraphExecDestroy(kernels->exec);
    if (kernels->graph != NULL) driver.cuGraphDestroy(kernels->graph);
    kernels->graph = NULL;
    kernels->exec = NULL;
}

/* A chain of the kernels, as the region is called now. */
static CUresult make_graph(const Run *run) {
    struct ppy_cuda_kernels *kernels = run->kernels;
    void *parameters[] = {run->words};
    CUresult code = driver.cuGraphCreate(&kernels->graph, 0);
    for (int i = 0; i < run->region->count && code == SUCCESS; i++) {
        const KernelNode one = node(run, i, parameters);
        code = driver.cuGraphAddKernelNode_v2(&kernels->each[i].node, kernels->graph,
                                              i ? &kernels->each[i - 1].node : NULL, i ? 1 : 0,
                                              &one);
    }
    if (code == SUCCESS)
        code = driver.cuGraphInstantiateWithFlags(&kernels->exec, kernels->graph, 0);
    return code;
}

/* Sizes, addresses and numbers of this call, where they are not those of the last. */
static CUresult update_graph(const Run *run) {
    struct ppy_cuda_kernels *kernels = run->kernels;
    const size_t bytes = (size_t)run->count * sizeof *run->words;
    if (kernels->chunks == run->chunks && memcmp(kernels->words, run->words, bytes) == 0)
        return SUCCESS;
    void *parameters[] = {run->words};
    for (int i = 0; i < run->region->count; i++) {
        const KernelNode one = node(run, i, parameters);
        const CUresult code =
            driver.cuGraphExecKernelNodeSetParams_v2(kernels->exec, kernels->each[i].node, &one);
        if (code != SUCCESS) return code;
    }
    return SUCCESS;
}

static void remember(const Run *run) {
    memcpy(run->kernels->words, run->words, (size_t)run->count * sizeof *run->words);
    run->kernels->chunks = run->chunks;
}

/* From the second call on; a graph is no gain for one kernel, and cannot be launched into a
 * stream whose work somebody else collects. */
static bool wants_graph(const Run *run) {
    int capturing = 0;
    const bool again = run->kernels->called;
    run->kernels->called = true;
    return again && run->region->count > 1 && run->chunks > 0 &&
           driver.cuStreamIsCapturing(run->stream, &capturing) == SUCCESS && !capturing;
}

static ppy_cuda_result launch(const Run *run) {
    struct ppy_cuda_kernels *kernels = run->kernels;
    if (!wants_graph(run)) return launch_each(run);
    if (kernels->words == NULL) {
        kernels->words = calloc((size_t)run->count, sizeof *kernels->words);
        if (kernels->words == NULL) return launch_each(run);
    }
    const CUresult prepared = kernels->exec == NULL ? make_graph(run) : update_graph(run);
    if (prepared != SUCCESS) {
        drop_graph(kernels); /* some of its nodes may be changed already */
        return failed(run->why, "a graph cannot be prepared", prepared);
    }
    remember(run);
    const CUresult code = driver.cuGraphLaunch(kernels->exec, run->stream);
    if (code != SUCCESS) return failed(run->why, "a graph cannot be launched", code);
    return PPY_CUDA_DONE;
}

/* ---- a run ---- */

enum { SPREAD = 128, LEAST_ROWS = 8 };

static int64_t parts(int64_t count, int64_t size) { return (count + size - 1) / size; }

/* Few rows are spread over many blocks, a part of a tile to each; many rows are whole tiles.
 * It depends on the batch alone, so that sums are the same on every card. */
static int64_t chunk_rows(const ppy_cuda_region *region, int64_t batch) {
    const int64_t spread = parts(parts(batch, SPREAD), LEAST_ROWS) * LEAST_ROWS;
    if (spread <= region->tile) return spread > 0 ? spread : LEAST_ROWS;
    return parts(parts(batch, region->most_chunks), region->tile) * region->tile;
}

int64_t ppy_cuda_scratch(const ppy_cuda_region *region, int64_t batch) {
    const int64_t chunk = chunk_rows(region, batch);
    return (region->scratch + parts(batch, chunk) * region->chunk_sums) * region->real;
}

static void fill_words(const ppy_cuda_region *region, uint64_t *words, void *const *inputs,
                       void *const *outputs, int64_t batch, int64_t chunk, void *scratch,
                       bool tf32) {
    const int given = region->inputs, results = region->outputs;
    for (int i = 0; i < given; i++) words[i] = (uint64_t)(uintptr_t)inputs[i];
    for (const int *number = region->numbers; *number >= 0; number++)
        memcpy(&words[*number], inputs[*number], sizeof *words);
    for (int i = 0; i < results; i++) words[given + i] = (uint64_t)(uintptr_t)outputs[i];
    words[given + results] = (uint64_t)batch;
    words[given + results + 1] = (uint64_t)chunk;
    words[given + results + 2] = (uint64_t)(uintptr_t)scratch;
    words[given + results + 3] = tf32;
}

static ppy_cuda_result run_here(Run *run) {
    struct ppy_cuda_kernels *kernels = run->kernels;
    pthread_mutex_lock(&kernels->lock);
    ppy_cuda_result result = launch(run);
    pthread_mutex_unlock(&kernels->lock);
    return result;
}

ppy_cuda_result ppy_cuda_run(const ppy_cuda_region *region, ppy_cuda_program *program,
                             int device, void *stream, void *const *inputs,
                             void *const *outputs, int64_t batch, void *scratch, int tf32,
                             char why[PPY_CUDA_MESSAGE]) {
    if (device < 0 || device >= PPY_CUDA_DEVICES) {
        snprintf(why, PPY_CUDA_MESSAGE, "there are more than %d GPUs", PPY_CUDA_DEVICES);
        return PPY_CUDA_UNUSABLE;
    }
    pthread_mutex_lock(&lock);
    CUcontext context = NULL, left;
    ppy_cuda_result result = PPY_CUDA_DONE;
    if (open_driver() < 0) {
        snprintf(why, PPY_CUDA_MESSAGE, "%s", missing);
        result = PPY_CUDA_UNUSABLE;
    } else {
        CUresult code = open_context(device, &context);
        if (code == SUCCESS) code = driver.cuCtxPushCurrent_v2(context);
        if (code != SUCCESS) {
            result = failed(why, "the GPU cannot be used", code);
            context = NULL;
        } else if (program->on[device] == NULL) {
            result = load(region, program, device, why);
        }
    }
    pthread_mutex_unlock(&lock);
    if (result == PPY_CUDA_DONE) {
        struct ppy_cuda_kernels *kernels = program->on[device];
        if (kernels->unusable[0] != '\0') {
            memcpy(why, kernels->unusable, PPY_CUDA_MESSAGE);
            result = PPY_CUDA_UNUSABLE;
        } else {
            const int count = region->inputs + region->outputs + 4;
            uint64_t words[count];
            const int64_t chunk = chunk_rows(region, batch);
            fill_words(region, words, inputs, outputs, batch, chunk, scratch, tf32);
            Run run = {region, kernels, stream, words, count, chunk,
                       (unsigned)parts(batch, chunk), why};
            result = run_here(&run);
        }
    }
    if (context != NULL) driver.cuCtxPopCurrent_v2(&left);
    if (result == PPY_CUDA_UNUSABLE)
        __atomic_fetch_or(&program->refused, UINT64_C(1) << device, __ATOMIC_RELAXED);
    return result;
}
