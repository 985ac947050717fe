/* Fused regions on a GPU: which stream, where memory comes from, and what goes wrong.
 *
 * Everything but the kernels is as on the processor: the same guards, the same first call.
 */
#ifndef PPY_CUDA_REGION_H
#define PPY_CUDA_REGION_H

#include "ppy_cuda.h"
#include "ppy_step.h"

#include <dlfcn.h>

#include <set>
#include <string>

namespace ppy {

template <size_t N>
bool are_together(const std::array<at::Tensor, N>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (tensor.device() != tensors[0].device()) {
      return false;
    }
  }
  return true;
}

/* The stream that torch's own work on the device goes to
 * (torch/csrc/inductor/aoti_torch/c/shim.h); false where this torch has no CUDA. */
inline bool current_stream(int device, void** stream) {
  using Current = int32_t(int32_t, void**);
  static Current* const current = [] {
    void* library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    return library == nullptr
        ? nullptr
        : reinterpret_cast<Current*>(dlsym(library, "aoti_torch_get_current_cuda_stream"));
  }();
  return current != nullptr && current(device, stream) == 0;
}

/* A region's kernels in both forms. */
struct Kernels {
  const char* name;
  Kernel* cpu;
  int64_t cpu_scratch; /* bytes */
  const ppy_cuda_region* cuda;
  ppy_cuda_program* program;
};

/* Said once for each reason: most are the same for all regions. */
inline void cannot_run(const char* why) {
  static std::set<std::string> said; // guarded by the interpreter's lock
  if (!said.insert(why).second) {
    return;
  }
  if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "ppy: Python runs what is on the GPU: %s", why) <
      0) {
    PyErr_WriteUnraisable(nullptr); // Python answers the call all the same
  }
}

inline void raise_out_of_memory(const char* why) {
  PyObject* torch = PyImport_ImportModule("torch");
  PyObject* type = torch ? PyObject_GetAttrString(torch, "OutOfMemoryError") : nullptr;
  if (type != nullptr) {
    PyErr_SetString(type, why);
  }
  Py_XDECREF(type);
  Py_XDECREF(torch);
}

/* As `run_kernel`: false where Python has to answer, or with an exception set. Outputs that
 * are new memory may hold anything then; nothing else is written. */
inline bool run_on_gpu(
    const Kernels& kernels,
    const at::Device& place,
    void* const* inputs,
    void* const* outputs,
    int64_t batch) {
  void* stream = nullptr;
  char why[PPY_CUDA_MESSAGE] = "this torch has no CUDA";
  ppy_cuda_result result = PPY_CUDA_UNUSABLE;
  const int device = place.has_index() ? place.index() : 0;
  if (ppy_cuda_refused(kernels.program, device)) {
    return false;
  }
  if (current_stream(device, &stream)) {
    const int64_t bytes = ppy_cuda_scratch(kernels.cuda, batch);
    // Another call may get this memory while the kernels still run; it comes later in the
    // same stream, so torch's allocator takes care of that.
    const at::Tensor scratch = empty(at::kByte, {bytes}, place);
    const bool tf32 = may_round(place);
    WithoutLock unlocked;
    result = ppy_cuda_run(
        kernels.cuda, kernels.program, device, stream, inputs, outputs, batch,
        scratch.mutable_data_ptr(), tf32, why);
  }
  switch (result) {
    case PPY_CUDA_DONE:
      return true;
    case PPY_CUDA_UNUSABLE:
      cannot_run(why);
      return false;
    case PPY_CUDA_MEMORY:
      raise_out_of_memory(why);
      return false;
    case PPY_CUDA_BROKEN:
      PyErr_Format(PyExc_RuntimeError, "ppy: %s on the GPU: %s", kernels.name, why);
      return false;
  }
  return false;
}

inline bool run_kernels(
    const Kernels& kernels,
    const at::Device& place,
    std::atomic<void*>& kept,
    void* const* inputs,
    void* const* outputs,
    int64_t batch) {
  return is_gpu(place)
      ? run_on_gpu(kernels, place, inputs, outputs, batch)
      : run_kernel(kernels.cpu, kept, kernels.cpu_scratch, inputs, outputs, batch);
}

/* A number that a kernel has left on the GPU: waits for it, as `item()` does, and other
 * threads go on meanwhile. False with an exception set where the work has failed: weights may
 * be written, so nobody may run the step again. */
template <class Real>
bool number_of(const at::Tensor& tensor, Real& number) {
  try {
    WithoutLock unlocked;
    number = *static_cast<const Real*>(on_host(tensor).const_data_ptr());
    return true;
  } catch (...) {
    torch::translate_exception_to_python(std::current_exception());
    return false;
  }
}

} // namespace ppy

#endif
