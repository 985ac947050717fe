/* What a region asks of torch's CUDA library, built as libtorch_cuda.so for tests. */
#include <stdint.h>

int32_t aoti_torch_get_current_cuda_stream(int32_t device, void **stream) {
    *stream = (void *)(uintptr_t)(0x100 + device);
    return 0;
}
