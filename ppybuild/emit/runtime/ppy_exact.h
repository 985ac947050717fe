/* Training steps in exact form: autograd's own calls of ATen, without its graph.
 *
 * The calls are made below autograd, whose formulas have been written out. What autograd
 * decides when it runs, by the strides of tensors, is decided here, in the same way. In the
 * staged form some of the calls are of kernels.
 */
#ifndef PPY_EXACT_H
#define PPY_EXACT_H

#include "ppy_step.h"

#include <ATen/ops/clone_ops.h>
#include <ATen/ops/copy_ops.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/ops/t_ops.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace ppy {

/* A step gives all its memory back at its end, and glibc gives it to the system, to ask for
 * it again page by page at the next step: 0.8 ms of work took 3.6 ms. How much glibc keeps
 * follows the largest block that was ever freed, up to 32 MB (mallopt(3), M_MMAP_THRESHOLD),
 * so that freeing one of nearly that size makes it keep what steps use. The block is not
 * touched. Where the user has set glibc's limits, they hold. */
inline const bool keeps_memory = [] {
  void* volatile block = std::malloc((size_t{32} << 20) - (size_t{64} << 10));
  std::free(block);
  return true;
}();

/* As autograd asks it of a factor, to give the factor's gradient the same layout. */
inline bool is_column_major(const at::Tensor& matrix) {
  return matrix.stride(0) == 1 && matrix.stride(1) == matrix.size(0);
}

/* The gradient of `left` in mm(left, right), where `gradient` is that of the product. */
inline at::Tensor mm_left(
    const at::Tensor& gradient,
    const at::Tensor& left,
    const at::Tensor& right) {
  if (is_column_major(left)) {
    return at::_ops::t::call(at::_ops::mm::call(right, at::_ops::t::call(gradient)));
  }
  return at::_ops::mm::call(gradient, at::_ops::t::call(right));
}

/* The gradient of `right` in mm(left, right). */
inline at::Tensor mm_right(
    const at::Tensor& gradient,
    const at::Tensor& left,
    const at::Tensor& right) {
  if (is_column_major(right)) {
    return at::_ops::t::call(at::_ops::mm::call(at::_ops::t::call(gradient), left));
  }
  return at::_ops::mm::call(at::_ops::t::call(left), gradient);
}

/* A tensor whose memory is its own, for the program to keep. */
inline at::Tensor owned(at::Tensor&& tensor) {
  if (tensor.storage().use_count() == 1 && tensor.storage_offset() == 0) {
    return std::move(tensor);
  }
  return at::_ops::clone::call(tensor, at::MemoryFormat::Preserve);
}

/* For operators that write to it. */
inline at::Tensor& writable(const at::Tensor& tensor) {
  return const_cast<at::Tensor&>(tensor);
}

template <size_t N>
bool are_on_cpu(const std::array<at::Tensor, N>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.is_cpu()) {
      return false;
    }
  }
  return true;
}

/* What a kernel reads, and what autograd keeps as the gradient of a contiguous tensor. */
inline at::Tensor dense(const at::Tensor& tensor) {
  return tensor.is_contiguous() ? tensor
                                : at::_ops::clone::call(tensor, at::MemoryFormat::Contiguous);
}

inline at::Tensor gradient(const at::Tensor& found) {
  return dense(found);
}

inline void* data(const double& number) {
  return const_cast<double*>(&number);
}

inline void* data(const int64_t& number) {
  return const_cast<int64_t*>(&number);
}

/* One of the kernels of a step, called without the interpreter's lock. */
inline void run_stage(
    Kernel* kernel,
    std::atomic<void*>& kept,
    int64_t bytes,
    std::initializer_list<void*> inputs,
    std::initializer_list<void*> outputs,
    int64_t rows) {
  Scratch scratch(kept, bytes);
  if (scratch.memory() == nullptr) {
    throw std::bad_alloc();
  }
  if (kernel(inputs.begin(), outputs.begin(), &rows, scratch.memory()) != 0) {
    throw Abandon();
  }
}

/* Batch normalisation needs several numbers in each channel. */
inline void several(const at::Tensor& input) {
  if (input.dim() < 2 || input.numel() == input.size(1)) {
    throw Abandon();
  }
}

/* Runs the calls of a step. False where Python has to run it, for nothing has been written,
 * or with an exception set. `wrote` tells whether an operator was to write in place. */
template <class Body>
bool compute(const bool& wrote, Body&& body) {
  try {
    torch::PyWarningHandler warnings;
    try {
      WithoutLock unlocked;
      at::AutoDispatchBelowADInplaceOrView below;
      body();
      return true;
    } catch (...) {
      warnings.set_in_exception();
      throw;
    }
  } catch (const Abandon&) {
  } catch (...) {
    if (wrote && !PyErr_Occurred()) {
      torch::translate_exception_to_python(std::current_exception());
    }
  }
  return false;
}

/* The number in a tensor of one element. */
inline double number_in(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat
      ? *static_cast<const float*>(tensor.const_data_ptr())
      : *static_cast<const double*>(tensor.const_data_ptr());
}

/* Whether two tensors hold the same bits. */
inline bool same(const at::Tensor& found, const at::Tensor& wanted) {
  return wanted.defined() && wanted.scalar_type() == found.scalar_type() &&
      wanted.sizes() == found.sizes() && wanted.strides() == found.strides() &&
      found.is_contiguous() &&
      std::memcmp(found.const_data_ptr(), wanted.const_data_ptr(), found.nbytes()) == 0;
}

inline bool same_tensor(const at::Tensor& found, PyObject* wanted) {
  return is_tensor(wanted) && !tensor(wanted).requires_grad() && same(found, tensor(wanted));
}

inline bool same_item(const at::Tensor& found, PyObject* tuple, Py_ssize_t place) {
  PyObject* wanted = tensor_at(tuple, place);
  return wanted != nullptr && same(found, tensor(wanted));
}

inline bool same_number(const at::Tensor& found, PyObject* wanted) {
  const double number = number_in(found);
  const double other = PyFloat_CheckExact(wanted) ? PyFloat_AS_DOUBLE(wanted) : 0;
  return PyFloat_CheckExact(wanted) && std::memcmp(&number, &other, sizeof number) == 0;
}

inline bool agree_number(const at::Tensor& found, PyObject* wanted) {
  return found.scalar_type() == at::kFloat
      ? agree(static_cast<float>(number_in(found)), wanted)
      : agree(number_in(found), wanted);
}

} // namespace ppy

#endif
