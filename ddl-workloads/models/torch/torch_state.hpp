// SPDX-License-Identifier: Apache-2.0
// The state of a network and its optimizer, as checkpoints name it.
#pragma once

#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/models/torch/device/host_copies.hpp"

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ddl {

// State as it is gathered. Where tensors are seen is known once all of them are.
class GatheredState {
 public:
    // Throws Error for a tensor that is not contiguous, or of numbers that no checkpoint holds.
    void add(std::string path, const torch::Tensor& tensor, Owner owner = Owner::any);
    void add_number(std::string path, std::int64_t& number, Owner owner);

    std::vector<StateTensor> seen_by(HostCopies& copies);

 private:
    std::vector<StateTensor> all_;
    std::vector<torch::Tensor> tensors_;
    std::vector<std::size_t> places_;  // of the tensors, in all_
};

// State of the optimizer for a parameter; zeros if it would make them at its first step.
void add_optimizer_state(GatheredState& all, torch::optim::Optimizer& optimizer, const OptimizerPlan& plan,
                         const std::string& name, const torch::Tensor& parameter, Owner owner);

// The same as optimizer.step() of SGD with momentum, from its second step on. It makes four calls for all parameters
// together, where LibTorch makes some for each: on a GPU those took a quarter of a step of ResNet-50.
void step_together(torch::optim::Optimizer& optimizer, const OptimizerPlan& plan,
                   const std::vector<torch::Tensor>& parameters);

}  // namespace ddl
