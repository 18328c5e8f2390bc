// A network of LibTorch's with its loss and optimizer, as a Model.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <torch/torch.h>

#include <functional>
#include <memory>

namespace ddl {

class Network : public torch::nn::Module {
 public:
    // Images (samples x channels x height x width) to one number for each class (samples x classes).
    virtual torch::Tensor forward(torch::Tensor images) = 0;
};

// `build` is called once threads and seed are set. Trains with cross entropy.
std::unique_ptr<Model> torch_model(const std::function<std::shared_ptr<Network>()>& build, const ModelPlan& plan);

}  // namespace ddl
