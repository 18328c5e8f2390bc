// SPDX-License-Identifier: Apache-2.0
// The state of a network and its optimizer, with the names used in checkpoints.
#pragma once

#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/models/torch/device/host_copies.hpp"

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

// LibTorch's type of an element, and the reverse; none for types that checkpoints do not support.
torch::ScalarType torch_type(ElementType type);
std::optional<ElementType> element_type(const torch::Tensor& tensor);

// Collects state tensors. seen_by() then returns host copies of all of them.
class GatheredState {
 public:
    // Throws Error for a tensor that is not contiguous, or whose element type checkpoints do not support.
    void add(std::string path, const torch::Tensor& tensor, Owner owner = Owner::any);
    void add_number(std::string path, std::int64_t& number, Owner owner);

    std::vector<StateTensor> seen_by(HostCopies& copies);

 private:
    std::vector<StateTensor> all_;
    std::vector<torch::Tensor> tensors_;
    std::vector<std::size_t> places_;  // index in all_ of each tensor
};

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::vector<torch::Tensor>& parameters,
                                                        const OptimizerPlan& plan);

// True for SGD with momentum. momentum_of() makes zeros if the optimizer has not begun.
bool has_momentum(const OptimizerPlan& plan);
torch::Tensor momentum_of(torch::optim::Optimizer& optimizer, const torch::Tensor& parameter);

// Adds the optimizer's state of a parameter; zeros if the optimizer would create it at its first step.
void add_optimizer_state(GatheredState& all, torch::optim::Optimizer& optimizer, const OptimizerPlan& plan,
                         const std::string& name, const torch::Tensor& parameter, Owner owner);

// Does the same as optimizer.step() of SGD with momentum, from its second step on. It makes four calls for all
// parameters together, where LibTorch makes several for each parameter: these took a quarter of a step of ResNet-50 on
// a GPU.
void step_together(torch::optim::Optimizer& optimizer, const OptimizerPlan& plan,
                   const std::vector<torch::Tensor>& parameters);

}  // namespace ddl
