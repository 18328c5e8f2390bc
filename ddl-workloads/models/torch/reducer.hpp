// SPDX-License-Identifier: Apache-2.0
// The real c10d::Reducer of PyTorch's DistributedDataParallel, over our transport.
#pragma once

#include "ddl-workloads/models/gradient_model.hpp"

#include <torch/torch.h>

#include <memory>
#include <vector>

namespace ddl {

class ParameterShards;
class ExchangeThread;
class TorchDevice;

class Reducer {
 public:
    virtual ~Reducer() = default;
    // Before each forward(), and between forward() and backward(). During backward() buckets are then started as soon
    // as they are complete, and the gradients are averaged when it returns. Without both calls it only accumulates.
    virtual void before_forward() = 0;
    virtual void before_backward(const torch::Tensor& loss) = 0;

    // Times that PyTorch's own logger (c10d::Logger) measured in the first ten steps and then in every hundredth: means
    // in ns. Compute ends when all buckets are ready, communication lasts from the first bucket's start to the last's
    // end.
    virtual nlohmann::ordered_json logged() = 0;
};

// Parameters must be equal on all ranks by now. Buckets of what lies in shards, if any, say whose it is. Buckets of a
// device are exchanged in the host's memory, to which they are copied while backward continues.
std::unique_ptr<Reducer> make_reducer(const std::vector<torch::Tensor>& parameters, const BucketCaps& caps,
                                      const TorchDevice& device, ExchangeThread& exchanges,
                                      const ParameterShards* shards, StartExchange start);

}  // namespace ddl
