// SPDX-License-Identifier: Apache-2.0
// The real c10d::Reducer of PyTorch's DistributedDataParallel, running over our transport.
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
    // Call these before each forward() and between forward() and backward(). backward() then starts the exchange of
    // each bucket as soon as it is complete, and gradients are averaged when it returns. Without both calls, backward()
    // only accumulates.
    virtual void before_forward() = 0;
    virtual void before_backward(const torch::Tensor& loss) = 0;

    // Mean times in ns, measured by PyTorch's own logger (c10d::Logger) in the first ten steps and then in every
    // hundredth. Compute time ends when all buckets are ready; communication time lasts from the start of the first
    // bucket to the end of the last.
    virtual nlohmann::ordered_json logged() = 0;
};

// The parameters must already be equal on all ranks. If `shards` is set, each bucket lists the parts of its shards.
// Buckets on a device are copied to host memory and exchanged there while backward continues.
std::unique_ptr<Reducer> make_reducer(const std::vector<torch::Tensor>& parameters, const BucketCaps& caps,
                                      const TorchDevice& device, ExchangeThread& exchanges,
                                      const ParameterShards* shards, StartExchange start);

}  // namespace ddl
