/* A driver without a GPU, built as libcuda.so.1 for tests: the card's memory is the
 * processor's, an image is the path of a library whose kernels `ppy_grid.h` made, and a graph
 * runs its kernels in order. Every call is written down, and any can be told to fail. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;

typedef struct {
    const void *func;
    unsigned int grid[3], block[3], shared;
    void **parameters, **extra;
    void *kern, *ctx;
} KernelNode;

/* What `ppy_grid.h` makes of a kernel. */
typedef struct {
    int bytes;
    bool (*run)(const void *words, int blocks, int threads);
} Kernel;

typedef struct Node {
    const Kernel *kernel;
    unsigned blocks, threads;
    uint64_t words[512];
    struct Node *before;
} Node;

static char log_[1 << 18];
static size_t used;
static char failing[64];
static int fails_with, fails_after;
static bool asserted; /* work on the card is over */
static void *current;
static int most_shared = 96 << 10; /* bytes of a block */

/* ---- what tests call ---- */

const char *fake_log(void) { return log_; }
void fake_clear(void) { log_[used = 0] = '\0'; }
void *fake_current(void) { return current; }
void fake_fail(const char *name, int code, int after) {
    snprintf(failing, sizeof failing, "%s", name);
    fails_with = code;
    fails_after = after;
    asserted = false;
}
void fake_shared(int bytes) { most_shared = bytes; }
bool fake_asserted(void) { return asserted; }

/* What was called, into a file, where a test has only the process's end. */
__attribute__((destructor)) static void write_log(void) {
    const char *path = getenv("FAKE_DRIVER_LOG");
    FILE *file = path && used ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fputs(log_, file);
    fclose(file);
}

/* ---- the driver ---- */

static CUresult called(const char *name, const char *what) {
    const int written = snprintf(log_ + used, sizeof log_ - used, "%s %s\n", name, what);
    if (written > 0 && used + (size_t)written < sizeof log_) used += (size_t)written;
    if (strcmp(name, failing) == 0 && fails_after-- <= 0) {
        failing[0] = '\0';
        return fails_with;
    }
    return 0;
}

#define ENTER(what) \
    const CUresult code = called(__func__, what); \
    if (code) return code

CUresult cuInit(unsigned flags) { (void)flags; ENTER(""); return 0; }
CUresult cuDeviceGet(int *device, int ordinal) { ENTER(""); *device = ordinal; return 0; }
CUresult cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    ENTER("");
    *value = attribute == 75 ? 6 : attribute == 97 ? most_shared : 1;
    return 0;
}
CUresult cuDriverGetVersion(int *version) { ENTER(""); *version = 12040; return 0; }
CUresult cuDevicePrimaryCtxRetain(void **context, int device) {
    ENTER("");
    *context = (void *)(uintptr_t)(0x1000 + device);
    return 0;
}
static void *stack[16];
static int depth;
CUresult cuCtxPushCurrent_v2(void *context) {
    ENTER("");
    stack[depth++] = current;
    current = context;
    return 0;
}
CUresult cuCtxPopCurrent_v2(void **context) {
    ENTER("");
    *context = current;
    current = stack[--depth];
    return 0;
}
CUresult cuModuleLoadData(void **module, const void *image) {
    ENTER("");
    *module = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    return *module ? 0 : 200;
}
CUresult cuModuleUnload(void *module) { ENTER(""); return dlclose(module); }
CUresult cuFuncSetAttribute(void *function, int attribute, int value) {
    (void)function, (void)attribute;
    char what[32];
    snprintf(what, sizeof what, "%d", value);
    ENTER(what);
    return value <= 96 << 10 ? 0 : 1;
}
CUresult cuModuleGetFunction(void **function, void *module, const char *name) {
    ENTER(name);
    *function = dlsym(module, name);
    return *function ? 0 : 500;
}

CUresult cuLaunchKernel(const Kernel *kernel, unsigned x, unsigned y, unsigned z, unsigned threads,
                        unsigned ty, unsigned tz, unsigned shared, void *stream,
                        void **parameters, void **extra) {
    (void)y, (void)z, (void)ty, (void)tz, (void)shared, (void)extra;
    char what[64];
    snprintf(what, sizeof what, "%u x %u on %p", x, threads, stream);
    ENTER(what);
    if (x == 0) return 1; /* an empty grid is an error */
    if (asserted) return 710;
    asserted = !kernel->run(parameters[0], (int)x, (int)threads);
    return 0;
}
CUresult cuStreamIsCapturing(void *stream, int *capturing) {
    ENTER("");
    *capturing = stream == (void *)0xca;
    return 0;
}

/* A graph is the last node of a chain, behind one more indirection. */
CUresult cuGraphCreate(void **graph, unsigned flags) {
    (void)flags;
    ENTER("");
    *graph = calloc(1, sizeof(Node *));
    return 0;
}
CUresult cuGraphExecDestroy(void *exec) { (void)exec; ENTER(""); return 0; }
CUresult cuGraphDestroy(void *graph) { ENTER(""); free(graph); return 0; }
static void fill(Node *node, const KernelNode *given) {
    node->kernel = given->func;
    node->blocks = given->grid[0];
    node->threads = given->block[0];
    memcpy(node->words, given->parameters[0], (size_t)node->kernel->bytes);
}
CUresult cuGraphAddKernelNode_v2(void **node, void *graph, void *const *after, size_t count,
                                 const KernelNode *given) {
    ENTER("");
    Node *made = calloc(1, sizeof *made);
    fill(made, given);
    made->before = count ? after[0] : NULL;
    *node = *(Node **)graph = made;
    return 0;
}
CUresult cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
    (void)flags;
    ENTER("");
    *exec = *(Node **)graph;
    return 0;
}
CUresult cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const KernelNode *given) {
    (void)exec;
    ENTER("");
    fill(node, given);
    return 0;
}
static void run_chain(const Node *node) {
    if (node->before) run_chain(node->before);
    if (!asserted)
        asserted = !node->kernel->run(node->words, (int)node->blocks, (int)node->threads);
}
CUresult cuGraphLaunch(void *exec, void *stream) {
    (void)stream;
    ENTER("");
    if (asserted) return 710;
    run_chain(exec);
    return 0;
}
CUresult cuGetErrorString(int code, const char **text) {
    *text = code == 2 ? "out of memory" : code == 700   ? "an illegal memory access"
            : code == 710 ? "device-side assert triggered"
                          : "an error";
    return 0;
}
