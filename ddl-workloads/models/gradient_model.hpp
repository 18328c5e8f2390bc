// SPDX-License-Identifier: Apache-2.0
// Models whose gradients ranks exchange, whole, in buckets or in shards.
#pragma once

#include "base/cli/capabilities.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/shard_parts.hpp"
#include "ddl-workloads/transports/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

inline constexpr base::Capability exchanged_gradients{"a model with gradients that ranks exchange"};

// Gradients that are exchanged together.
struct Bucket {
    std::uint64_t index = 0;
    std::span<float> gradients;
    bool last = false;                      // of this step
    std::vector<ShardPart> parts = {};      // of a model that updates a shard: whose they are; of others none
    std::optional<GpuNumbers> on_gpu = {};  // the gradients, if they are there and not in the host's memory
};

using ExchangeDone = std::function<void(std::exception_ptr failure)>;

// Starts the exchange of a bucket that is complete on this rank. The future is ready when its gradients, or those of
// this rank's shard, are the mean over all ranks, or on a GPU as soon as its stream will come to that; right before
// that `done`, if any, is called on the transport thread, with what went wrong or null.
using StartExchange = std::function<std::future<void>(const Bucket& bucket, ExchangeDone done)>;

// Called for a gradient tensor, by its place among gradients(), as soon as it is complete on this rank. `arrive`, if
// any, is to be called before the gradient is read, on any thread: it waits until a device has sent it.
using GradientReady = std::function<void(std::size_t tensor, std::span<float> gradient, std::function<void()> arrive)>;

// Changes a gradient tensor, by its place among gradients().
using AlterGradient = std::function<void(std::size_t tensor, std::span<float> gradient)>;

// How large buckets may grow, as in PyTorch's DistributedDataParallel: a small first one, so that the exchange starts
// early.
struct BucketCaps {
    std::int64_t first_bytes = 1 << 20;
    std::int64_t bytes = 25 << 20;
    bool static_graph = false;  // every backward() is as the first one, so that nothing of it is looked for
    bool view = false;          // gradients are views into their bucket: not copied back
};

class GradientModel : public Model {
 public:
    GradientModel* with_gradients() final { return this; }

    // To be called once, after ranks agree on the parameters: from then on backward() cuts its gradients into buckets,
    // calls `start` for each as soon as it is complete, in the same order on all ranks, and returns when all are done.
    virtual void exchange_in_buckets(const BucketCaps& caps, ExchangeThread& exchanges, StartExchange start) = 0;

    // To be called once, instead: from then on backward() reports each gradient while it runs, ranks in orders of
    // their own.
    virtual void announce_gradients(GradientReady ready) = 0;

    // To be called before those, once ranks agree on the parameters: from then on update() changes one of equal shards
    // of the parameters, and keeps the optimizer's state of no other. All shards in order, equally long.
    virtual std::span<std::byte> update_shard(int shard, int shards) = 0;

    // From now on the gradients of `passes` passes (take, forward, backward) add up, each divided by their number. Only
    // the last of them exchanges or announces.
    virtual void accumulate(int passes) = 0;

    // To be called once, before the first step: from then on backward() shows each of these gradients, in the last pass
    // of a step, before it is exchanged or announced.
    virtual void alter_gradients(const std::vector<std::size_t>& tensors, AlterGradient alter) = 0;

    // Complete after backward(), one span a tensor, in the same order on all ranks; of a model that updates a shard,
    // what belongs to it. Update() uses what is written into them.
    virtual std::vector<std::span<float>> gradients() = 0;

    // Names of the gradients, at any time.
    virtual std::vector<std::string> gradient_names() = 0;
};

// Throws UsageError for a model without any.
GradientModel& gradients_of(Model& model);

}  // namespace ddl
