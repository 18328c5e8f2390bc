// SPDX-License-Identifier: Apache-2.0
// Fully connected layers whose products a strategy may compute.
#pragma once

#include "ddl-workloads/models/dense_model.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/models/torch/torch_network.hpp"

#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

namespace ddl {

// torch::nn::Linear, until compute_by(). In evaluation mode it always computes with its own weights.
class DenseImpl : public torch::nn::LinearImpl {
 public:
    using torch::nn::LinearImpl::LinearImpl;
    torch::Tensor forward(const torch::Tensor& x);
    void compute_by(DenseProducts& products, std::size_t layer);

 private:
    DenseProducts* products_ = nullptr;
    std::size_t layer_ = 0;
};
TORCH_MODULE(Dense);

// The Dense layers of a network.
class TorchDense : public DenseModel {
 public:
    // Removes weights that no longer have gradients from `trained`.
    TorchDense(Network& network, torch::optim::Optimizer& optimizer, const OptimizerPlan& plan,
               std::vector<torch::Tensor>& trained);

    std::vector<DenseLayer> dense_layers() override;
    void leave_products_to(DenseProducts& products) override;
    DenseProducts* products() override { return products_; }

 private:
    std::vector<std::pair<std::string, DenseImpl*>> layers_;
    torch::optim::Optimizer& optimizer_;
    OptimizerPlan plan_;
    std::vector<torch::Tensor>& trained_;
    DenseProducts* products_ = nullptr;
};

}  // namespace ddl
