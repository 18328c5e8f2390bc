// SPDX-License-Identifier: Apache-2.0
// Debian's libtorch-dev 1.13 lacks this header, which c10d/reducer.hpp includes for one type. This one is used only if
// the real one is absent. The reducer only holds pointers to the class.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

namespace torch::distributed::autograd {

class DistAutogradContext {
 public:
    using GradCallback = std::function<bool(at::Tensor&)>;
};
using ContextPtr = std::shared_ptr<DistAutogradContext>;

}  // namespace torch::distributed::autograd
