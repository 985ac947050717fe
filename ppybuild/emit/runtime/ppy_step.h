/* Training steps: the guards of a fused step, its first call, and what it leaves behind.
 *
 * A step runs as one kernel only where nothing could watch or change what autograd would do:
 * no mode, no hook, plain dense tensors. Everything else is Python's. As in `ppy_region.h`,
 * a few declarations of torch are repeated and compared with its headers when building.
 */
#ifndef PPY_STEP_H
#define PPY_STEP_H

#include "ppy_region.h"

#ifdef PPY_CUDA
#include <ATen/Context.h>
#endif
#include <ATen/SavedTensorHooks.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/to_ops.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <initializer_list>

#ifdef PPY_FULL_HEADERS
#include <torch/csrc/autograd/variable.h>
#else

namespace torch::autograd {

/* torch/csrc/autograd/node.h; held and let go, never looked into. */
struct Node : c10::intrusive_ptr_target {};
struct FunctionPreHook;
struct PostAccumulateGradHook;

} // namespace torch::autograd

/* A node may have a Python object, whose count of references goes with the node's. */
template <>
struct c10::detail::TargetTraits<torch::autograd::Node> {
  static constexpr bool can_have_pyobject = true;
};

namespace torch::autograd {

/* torch/csrc/autograd/variable.h */
namespace impl {
TORCH_API c10::intrusive_ptr<Node> try_get_grad_accumulator(const at::TensorBase& self);
TORCH_API std::vector<std::unique_ptr<FunctionPreHook>>& hooks(const at::Tensor& self);
TORCH_API std::unique_ptr<PostAccumulateGradHook>& post_acc_grad_hooks(const at::Tensor& self);
} // namespace impl

} // namespace torch::autograd

#endif

namespace ppy {

using Kernel = int(void* const*, void* const*, const int64_t*, void*);

/* What counts as a GPU; tests take the processor for one. */
#ifndef PPY_GPU
#define PPY_GPU at::kCUDA
#endif

/* Whether the extension has kernels for tensors there: a cuda build has both forms. */
inline bool is_gpu(const at::Device& place) {
  return place.type() == PPY_GPU;
}

inline bool has_kernels(const at::Device& place) {
#ifdef PPY_CUDA
  return place.is_cpu() || is_gpu(place);
#else
  return place.is_cpu();
#endif
}

/* Whether kernels may stand for operators: nothing records, casts or checks them. */
inline bool computes() {
  return eager() && !c10::InferenceMode::is_enabled() &&
      c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU) &&
      c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCUDA);
}

/* Whether a backward pass now would do what its rules say, and no more. */
inline bool trains() {
  return computes() && c10::GradMode::is_enabled() &&
      !torch::autograd::AnomalyMode::is_enabled() &&
      at::SavedTensorDefaultHooks::get_tls_state().stack.empty() &&
      at::SavedTensorDefaultHooks::is_enabled();
}

/* Whether nothing is recorded now, for a forward pass alone. */
inline bool evaluates() {
  return eager() && !c10::GradMode::is_enabled() &&
      c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU) &&
      c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCUDA);
}

/* Dense, contiguous and where there are kernels, of this type; -1 is any size but 0: what a
 * pass without gradients reads. */
inline bool is_read(
    const at::Tensor& tensor,
    at::ScalarType type,
    std::initializer_list<int64_t> sizes) {
  constexpr c10::DispatchKeySet odd({
      c10::DispatchKey::Python,
      c10::DispatchKey::PythonTLSSnapshot,
      c10::DispatchKey::Functionalize,
      c10::DispatchKey::Conjugate,
      c10::DispatchKey::Negative,
      c10::DispatchKey::ZeroTensor,
      c10::DispatchKey::FuncTorchBatched,
      c10::DispatchKey::FuncTorchGradWrapper,
  });
  if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_nested() ||
      !has_kernels(tensor.device()) || tensor.scalar_type() != type ||
      tensor.key_set().has_any(odd) || !tensor.has_storage() ||
      tensor.dim() != static_cast<int64_t>(sizes.size()) || !tensor.is_contiguous()) {
    return false;
  }
  const int64_t* found = tensor.sizes().data();
  for (const int64_t wanted : sizes) {
    if (wanted < 0 ? *found == 0 : *found != wanted) {
      return false;
    }
    found++;
  }
  const c10::AutogradMetaInterface* meta = tensor.unsafeGetTensorImpl()->autograd_meta();
  return meta == nullptr || !meta->fw_grad(0, tensor).defined();
}

inline bool is_plain(
    const at::Tensor& tensor,
    at::ScalarType type,
    std::initializer_list<int64_t> sizes) {
  return is_read(tensor, type, sizes) && !tensor.is_inference();
}

/* What the step only reads. */
inline bool is_data(
    const at::Tensor& tensor,
    at::ScalarType type,
    std::initializer_list<int64_t> sizes) {
  return is_plain(tensor, type, sizes) && !tensor.requires_grad();
}

/* What the step trains: nobody else listens to its gradient. */
inline bool is_leaf(
    const at::Tensor& tensor,
    at::ScalarType type,
    std::initializer_list<int64_t> sizes) {
  namespace autograd = torch::autograd::impl;
  return is_plain(tensor, type, sizes) && tensor.requires_grad() && tensor.is_leaf() &&
      autograd::hooks(tensor).empty() && autograd::post_acc_grad_hooks(tensor) == nullptr &&
      !autograd::try_get_grad_accumulator(tensor).defined();
}

/* Whether each tensor from `first` on has memory of its own. */
template <size_t N>
bool are_apart(const std::array<at::Tensor, N>& tensors, size_t first) {
  for (size_t i = first; i < N; i++) {
    const c10::StorageImpl* own = tensors[i].storage().unsafeGetStorageImpl();
    for (size_t k = 0; k < i; k++) {
      if (tensors[k].storage().unsafeGetStorageImpl() == own) {
        return false;
      }
    }
  }
  return true;
}

inline bool has_length(PyObject* sequence, Py_ssize_t length) {
  return (PyList_CheckExact(sequence) || PyTuple_CheckExact(sequence)) &&
      PySequence_Fast_GET_SIZE(sequence) == length;
}

inline bool is_tensor(PyObject* object, at::Tensor& value) {
  if (!is_tensor(object)) {
    return false;
  }
  value = tensor(object);
  return true;
}

inline at::Tensor empty(
    at::ScalarType type,
    c10::IntArrayRef sizes,
    const at::Device& place = at::kCPU) {
  return at::_ops::empty_memory_format::call(
      c10::fromIntArrayRefSlow(sizes), type, at::kStrided, place, false, std::nullopt);
}

inline at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.device().is_cpu() ? tensor
                                  : at::_ops::to_device::call(
                                        tensor, at::kCPU, tensor.scalar_type(), false, false,
                                        std::nullopt);
}

/* Working memory of one kernel, kept from call to call; calls at once have their own. */
class Scratch {
 public:
  Scratch(std::atomic<void*>& kept, int64_t bytes) : kept_(kept) {
    memory_ = kept.exchange(nullptr);
    if (memory_ == nullptr) {
      memory_ = std::aligned_alloc(64, (static_cast<size_t>(bytes) + 127) / 64 * 64);
    }
  }
  ~Scratch() {
    std::free(kept_.exchange(memory_));
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* memory() const {
    return memory_;
  }

 private:
  std::atomic<void*>& kept_;
  void* memory_;
};

/* False where the kernel has met what only Python can answer, and has written nothing. */
inline bool run_kernel(
    Kernel* kernel,
    std::atomic<void*>& kept,
    int64_t bytes,
    void* const* inputs,
    void* const* outputs,
    int64_t batch) {
  WithoutLock unlocked;
  Scratch scratch(kept, bytes);
  return scratch.memory() != nullptr && kernel(inputs, outputs, &batch, scratch.memory()) == 0;
}

/* Whether the first call of a fused form has agreed with Python. */
class Verdict {
 public:
  explicit constexpr Verdict(const char* name) : name_(name) {}

  bool refused() const {
    return state_ == REFUSED;
  }
  bool untried() const {
    return state_ == UNTRIED;
  }
  void settle(bool agrees) {
    state_ = agrees ? TRUSTED : REFUSED;
    if (!agrees &&
        PyErr_WarnFormat(
            PyExc_RuntimeWarning,
            1,
            "ppy: the native form of %s differs from Python on its first call; "
            "Python runs it from now on",
            name_) < 0) {
      PyErr_WriteUnraisable(nullptr); // the call itself has been answered
    }
  }

 private:
  enum State { UNTRIED, TRUSTED, REFUSED };

  const char* name_;
  std::atomic<State> state_{UNTRIED};
};

/* Whether float32 products there may round what they multiply to TF32, by
 * `torch.backends.cuda.matmul.allow_tf32`. */
inline bool may_round(const at::Device& place) {
#ifdef PPY_CUDA
  return is_gpu(place) && at::globalContext().allowTF32CuBLAS();
#else
  (void)place;
  return false;
#endif
}

/* The tolerances of torch.testing, relative to the largest number of the tensor; `rounded`
 * where products, ours or PyTorch's, may be of numbers that were rounded to TF32. */
template <class Real>
bool close(const Real* found, const Real* wanted, int64_t count, bool rounded = false) {
  constexpr bool single = sizeof(Real) == sizeof(float);
  double largest = 0;
  for (int64_t i = 0; i < count; i++) {
    if (std::isfinite(wanted[i])) {
      largest = std::max(largest, std::abs(static_cast<double>(wanted[i])));
    }
  }
  const double relative = rounded ? 1e-2 : 1.3e-6;
  const double most = single ? 1e-5 + relative * largest : 1e-7 + 1e-7 * largest;
  for (int64_t i = 0; i < count; i++) {
    const double a = found[i];
    const double b = wanted[i];
    if (!(std::abs(a - b) <= most) && a != b && !(std::isnan(a) && std::isnan(b))) {
      return false;
    }
  }
  return true;
}

inline bool agree(const at::Tensor& found, const at::Tensor& wanted) {
  if (!wanted.defined() || wanted.scalar_type() != found.scalar_type() ||
      wanted.sizes() != found.sizes() || !wanted.is_contiguous()) {
    return false;
  }
  const at::Tensor held_found = on_host(found);
  const at::Tensor held_wanted = on_host(wanted);
  const void* a = held_found.const_data_ptr();
  const void* b = held_wanted.const_data_ptr();
  return found.scalar_type() == at::kFloat
      ? close(
            static_cast<const float*>(a),
            static_cast<const float*>(b),
            found.numel(),
            may_round(found.device()))
      : close(static_cast<const double*>(a), static_cast<const double*>(b), found.numel());
}

template <class Real>
bool agree(Real found, PyObject* wanted, const at::Device& place = at::kCPU) {
  const Real number = PyFloat_CheckExact(wanted) ? static_cast<Real>(PyFloat_AS_DOUBLE(wanted))
                                                 : std::numeric_limits<Real>::quiet_NaN();
  return PyFloat_CheckExact(wanted) && close(&found, &number, 1, may_round(place));
}

inline bool agree_tensor(const at::Tensor& found, PyObject* wanted) {
  return is_tensor(wanted) && !tensor(wanted).requires_grad() && agree(found, tensor(wanted));
}

/* An item of the tuple that a fragment's statements gave. The tensor may have its graph still,
 * of which nothing is asked. */
inline PyObject* tensor_at(PyObject* tuple, Py_ssize_t place) {
  PyObject* found = PyTuple_GET_ITEM(tuple, place);
  return is_tensor(found) ? found : nullptr;
}

inline bool agree_item(const at::Tensor& found, PyObject* tuple, Py_ssize_t place) {
  PyObject* wanted = tensor_at(tuple, place);
  return wanted != nullptr && agree(found, tensor(wanted));
}

/* A comparison that meets what it cannot look into has not found the same. */
template <class Check>
bool holds(Check&& check) {
  try {
    return check();
  } catch (...) {
    return false;
  }
}

/* The results of a region without a backward pass: a tensor, or a tuple of them. */
template <size_t N>
bool agree_all(const std::array<at::Tensor, N>& found, PyObject* wanted) {
  return holds([&] {
    if (!PyTuple_CheckExact(wanted)) {
      return N == 1 && agree_tensor(found[0], wanted);
    }
    for (size_t i = 0; i < N; i++) {
      if (!agree_tensor(found[i], PyTuple_GET_ITEM(wanted, i))) {
        return false;
      }
    }
    return PyTuple_GET_SIZE(wanted) == static_cast<Py_ssize_t>(N);
  });
}

inline void* data(const at::Tensor& tensor) {
  return const_cast<void*>(tensor.const_data_ptr());
}

inline PyObject* call_python(
    ppy_native* self,
    PyObject* const* args,
    size_t nargsf,
    PyObject* kwnames) {
  return PyObject_Vectorcall(self->python, args, PyVectorcall_NARGS(nargsf), kwnames);
}

/* As many writes in place as autograd has to know of. */
inline void written(const at::Tensor& tensor, int times) {
  for (int i = 0; i < times; i++) {
    tensor.unsafeGetTensorImpl()->bump_version();
  }
}

inline uint32_t version(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->version_counter().current_version();
}

} // namespace ppy

#endif
