/* Random numbers in training steps, from the generator that PyTorch draws them from. */
#ifndef PPY_DRAW_H
#define PPY_DRAW_H

#include "ppy_exact.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/bernoulli_ops.h>
#include <ATen/ops/div_ops.h>
#include <ATen/ops/empty_like_ops.h>

#include <mutex>

namespace ppy {

/* The generator as it was, for Python to draw the same numbers when it runs the step. */
class Drawn {
 public:
  Drawn() : generator_(at::detail::getDefaultCPUGenerator()) {
    std::lock_guard<std::mutex> lock(generator_.mutex());
    state_ = generator_.get_state();
  }
  void again() {
    std::lock_guard<std::mutex> lock(generator_.mutex());
    generator_.set_state(state_);
  }

 private:
  at::Generator generator_;
  at::Tensor state_;
};

/* What dropout multiplies by: nothing, or with the probability `keep` what makes up for it. */
inline at::Tensor noise(const at::Tensor& input, double keep) {
  at::Tensor drawn = at::_ops::empty_like::call(
      input, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  at::_ops::bernoulli__float::call(drawn, keep, std::nullopt);
  at::_ops::div__Scalar::call(drawn, keep);
  return drawn;
}

} // namespace ppy

#endif
