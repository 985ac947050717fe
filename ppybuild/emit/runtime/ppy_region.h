/* Tensor regions: what generated C++ needs of torch, and no more of its headers.
 *
 * `torch/csrc/autograd/python_variable.h` costs 25 seconds to compile, and a region needs
 * five declarations of it and of its like. They are repeated below. ppybuild compares them
 * with the text of the installed headers, and defines PPY_FULL_HEADERS where they differ.
 */
#ifndef PPY_REGION_H
#define PPY_REGION_H

#include "ppy_boundary.h"

#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/alias_ops.h>
#include <ATen/ops/slice_ops.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#ifdef PPY_FULL_HEADERS
#include <ATen/ScalarOps.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#else

/* torch/csrc/autograd/python_variable.h; the fields after the first are not used. */
struct THPVariable {
  PyObject_HEAD
  at::Tensor cdata;
};

C10_IMPORT extern PyObject* THPVariableClass;
C10_IMPORT extern PyObject* ParameterClass;
C10_IMPORT PyObject* THPVariable_Wrap(at::TensorBase&& var);

/* torch/csrc/Exceptions.h */
namespace torch {

struct PyWarningHandler {
  struct InternalHandler : at::WarningHandler {
    ~InternalHandler() override = default;
    void process(const c10::Warning& warning) override;

    std::vector<c10::Warning> warning_buffer_;
  };

 public:
  C10_IMPORT PyWarningHandler() noexcept(true);
  C10_IMPORT ~PyWarningHandler() noexcept(false);

  void set_in_exception() {
    in_exception_ = true;
  }

 private:
  InternalHandler internal_handler_;
  at::WarningHandler* prev_handler_;
  bool in_exception_{false};
};

C10_IMPORT void translate_exception_to_python(const std::exception_ptr& e_ptr);

} // namespace torch

/* ATen/ScalarOps.h */
namespace at::detail {
TORCH_API Tensor scalar_tensor_static(
    const Scalar& s,
    std::optional<ScalarType> dtype_opt,
    std::optional<Device> device_opt);
} // namespace at::detail

#endif

namespace ppy {

/* Whether operators called now only compute: no mode, transform or tracer watches. */
inline bool eager() {
  constexpr c10::DispatchKeySet watchers({
      c10::DispatchKey::Python,
      c10::DispatchKey::PythonTLSSnapshot,
      c10::DispatchKey::PreDispatch,
      c10::DispatchKey::PythonDispatcher,
      c10::DispatchKey::Functionalize,
      c10::DispatchKey::Tracer,
      c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
      c10::DispatchKey::FuncTorchDynamicLayerBackMode,
      c10::DispatchKey::FuncTorchVmapMode,
      c10::DispatchKey::FuncTorchBatched,
      c10::DispatchKey::FuncTorchGradWrapper,
  });
  return !c10::impl::tls_local_dispatch_key_set().included_.has_any(watchers) &&
      !at::impl::torch_function_mode_enabled() &&
      !c10::impl::TorchDispatchModeTLS::any_modes_set();
}

/* Exactly a Tensor or a Parameter: a subclass may have another meaning. */
inline bool is_tensor(PyObject* object) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return type == THPVariableClass || type == ParameterClass;
}

inline const at::Tensor& tensor(PyObject* object) {
  return reinterpret_cast<THPVariable*>(object)->cdata;
}

/* None or a tensor. */
inline bool is_optional(PyObject* object) {
  return object == Py_None || is_tensor(object);
}

inline std::optional<at::Tensor> optional(PyObject* object) {
  return object == Py_None ? std::nullopt : std::optional<at::Tensor>(tensor(object));
}

/* An int of 64 bits, a float, a bool; exact types, as the loops take them. */
inline bool is_int(PyObject* object, int64_t& value) {
  if (!PyLong_CheckExact(object)) {
    return false;
  }
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

inline bool is_float(PyObject* object, double& value) {
  if (!PyFloat_CheckExact(object)) {
    return false;
  }
  value = PyFloat_AS_DOUBLE(object);
  return true;
}

inline bool is_bool(PyObject* object, bool& value) {
  value = object == Py_True;
  return value || object == Py_False;
}

/* `sequence[index]` of a list or tuple. The tensor is held: once the lock is let go, another
 * thread may take it out of the list. */
inline bool is_item(PyObject* sequence, Py_ssize_t index, at::Tensor& value) {
  Py_ssize_t length = 0;
  PyObject** items = nullptr;
  if (PyList_CheckExact(sequence)) {
    length = PyList_GET_SIZE(sequence);
    items = reinterpret_cast<PyListObject*>(sequence)->ob_item;
  } else if (PyTuple_CheckExact(sequence)) {
    length = PyTuple_GET_SIZE(sequence);
    items = reinterpret_cast<PyTupleObject*>(sequence)->ob_item;
  }
  index = index < 0 ? index + length : index;
  if (index < 0 || index >= length || !is_tensor(items[index])) {
    return false;
  }
  value = tensor(items[index]);
  return true;
}

/* All items of a list or tuple of tensors. */
inline bool is_sequence(PyObject* sequence, std::vector<at::Tensor>& value) {
  if (!PyList_CheckExact(sequence) && !PyTuple_CheckExact(sequence)) {
    return false;
  }
  const Py_ssize_t length = PySequence_Fast_GET_SIZE(sequence);
  value.resize(static_cast<size_t>(length));
  for (Py_ssize_t i = 0; i < length; i++) {
    if (!is_item(sequence, i, value[static_cast<size_t>(i)])) {
      return false;
    }
  }
  return true;
}

/* A Python number where an operator takes a tensor, as the bindings pass it. */
inline at::Tensor number(const at::Scalar& value) {
  at::Tensor result = at::detail::scalar_tensor_static(value, value.type(), at::kCPU);
  result.unsafeGetTensorImpl()->set_wrapped_number(true);
  return result;
}

/* Runs an operator that makes a tensor, as the bindings do: below autograd. */
template <class Maker>
at::Tensor made(Maker&& maker) {
  at::AutoDispatchBelowADInplaceOrView guard;
  return maker();
}

/* Thrown where the region does not do what Python would: a warning, a check in Python. */
struct Abandon {};

inline void same_size(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) {
    throw Abandon{};
  }
}

template <size_t N>
std::array<at::Tensor, N> unpack(std::vector<at::Tensor>& tensors) {
  if (tensors.size() != N) {
    throw Abandon{};
  }
  std::array<at::Tensor, N> result;
  std::move(tensors.begin(), tensors.end(), result.begin());
  tensors.clear();
  return result;
}

/* A slice among several indices: left out where it covers the whole dimension. */
inline at::Tensor slice(
    const at::Tensor& self,
    int64_t dim,
    std::nullopt_t,
    const c10::SymInt& stop,
    const c10::SymInt& step) {
  if (dim < self.dim() && stop >= self.sym_size(dim) && step == 1) {
    return self;
  }
  return at::_ops::slice_Tensor::call(self, dim, c10::SymInt(0), stop, step);
}

/* What indexing gives where nothing was left to do: never the tensor itself. */
inline at::Tensor alias(const at::Tensor& sliced, const at::Tensor& self) {
  return sliced.is_same(self) ? at::_ops::alias::call(sliced) : sliced;
}

inline PyObject* wrap(at::Tensor&& result) {
  return THPVariable_Wrap(std::move(result));
}

template <size_t N>
PyObject* wrap(std::array<at::Tensor, N>&& results) {
  PyObject* tuple = PyTuple_New(N);
  for (size_t i = 0; tuple != nullptr && i < N; i++) {
    PyObject* item = wrap(std::move(results[i]));
    if (item == nullptr) {
      Py_CLEAR(tuple);
      break;
    }
    PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

/* Leaves the autograd kernels out of a region that neither writes nor needs a gradient.
 *
 * With gradients off those kernels record nothing and only pass the call on, unless a tensor
 * carries a forward-mode gradient. Views and version counters are another key's work. */
class PastAutograd {
 public:
  template <class... Tensors>
  explicit PastAutograd(const Tensors&... inputs) {
    if (!c10::GradMode::is_enabled() && !(needs_autograd(inputs) || ...)) {
      guard_.emplace(c10::autograd_dispatch_keyset);
    }
  }

 private:
  static bool needs_autograd(const at::Tensor& tensor) {
    if (tensor.is_nested() || tensor.layout() != at::kStrided) {
      return true; // some of their kernels are kept under autograd's keys
    }
    const c10::AutogradMetaInterface* meta = tensor.unsafeGetTensorImpl()->autograd_meta();
    return meta != nullptr && meta->fw_grad(0, tensor).defined();
  }
  static bool needs_autograd(const std::optional<at::Tensor>& tensor) {
    return tensor.has_value() && needs_autograd(*tensor);
  }
  static bool needs_autograd(const std::vector<at::Tensor>& tensors) {
    for (const at::Tensor& tensor : tensors) {
      if (needs_autograd(tensor)) {
        return true;
      }
    }
    return false;
  }

  std::optional<c10::impl::ExcludeDispatchKeyGuard> guard_;
};

class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() {
    PyEval_RestoreThread(state_);
  }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

/* Run a region's body as the bindings run an operator: without the interpreter's lock, with
 * torch's warnings turned into Python's. Where an operator raises and the body may be run
 * again, Python runs it, and raises the same with the lines of the function in its
 * traceback. Otherwise the exception is turned into Python's here. */
template <bool restartable, class Body>
PyObject* run(Body&& body) {
  try {
    torch::PyWarningHandler warnings;
    try {
      auto result = [&] {
        WithoutLock unlocked;
        return body();
      }();
      return wrap(std::move(result));
    } catch (...) {
      warnings.set_in_exception();
      throw;
    }
  } catch (const Abandon&) {
  } catch (...) {
    if (!restartable && !PyErr_Occurred()) {
      torch::translate_exception_to_python(std::current_exception());
    }
  }
  return nullptr;
}

} // namespace ppy

#endif
