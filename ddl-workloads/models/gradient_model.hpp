// SPDX-License-Identifier: Apache-2.0
// Models whose gradients are exchanged by the ranks: whole, in buckets or in shards.
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
    bool last = false;                      // last bucket of this step
    std::vector<ShardPart> parts = {};      // in a model that updates a shard: the parts by shard; otherwise empty
    std::optional<GpuNumbers> on_gpu = {};  // set if the gradients are in GPU memory instead of host memory
};

using ExchangeDone = std::function<void(std::exception_ptr failure)>;

// Starts the exchange of a bucket that is complete on this rank. The future becomes ready when the bucket's gradients
// (or those of this rank's shard) are the mean over all ranks; on a GPU, as soon as the exchange is queued. Before
// that, `done` (if set) is called on the transport thread with the failure, or null.
using StartExchange = std::function<std::future<void>(const Bucket& bucket, ExchangeDone done)>;

// Called as soon as a gradient tensor is complete on this rank; `tensor` is its index in gradients(). If `arrive` is
// set, it must be called before the gradient is read, on any thread: it waits for the copy from the device.
using GradientReady = std::function<void(std::size_t tensor, std::span<float> gradient, std::function<void()> arrive)>;

// Changes a gradient tensor; `tensor` is its index in gradients().
using AlterGradient = std::function<void(std::size_t tensor, std::span<float> gradient)>;

// Size limits of buckets, as in PyTorch's DistributedDataParallel: the first bucket is small, so that the exchange
// starts early.
struct BucketCaps {
    std::int64_t first_bytes = 1 << 20;
    std::int64_t bytes = 25 << 20;
    bool static_graph = false;  // every backward() equals the first, so the graph is analysed only once
    bool view = false;          // gradients are views into their bucket and need no copy back
};

class GradientModel : public Model {
 public:
    GradientModel* with_gradients() final { return this; }

    // Call once, after the ranks have agreed on the parameters. From then on backward() cuts its gradients into
    // buckets, calls `start` for each complete bucket, in the same order on all ranks, and returns when all exchanges
    // are done.
    virtual void exchange_in_buckets(const BucketCaps& caps, ExchangeThread& exchanges, StartExchange start) = 0;

    // Call once, instead of exchange_in_buckets(). From then on backward() announces each gradient as it becomes ready;
    // the order may differ between ranks.
    virtual void announce_gradients(GradientReady ready) = 0;

    // Call before exchange_in_buckets() or announce_gradients(), after the ranks have agreed on the parameters. From
    // then on update() changes only one of `shards` equal shards of the parameters, and keeps only its optimizer state.
    // Returns the memory of all shards, in order.
    virtual std::span<std::byte> update_shard(int shard, int shards) = 0;

    // From now on the gradients of `passes` passes (take, forward, backward) are averaged. Only the last pass exchanges
    // or announces gradients.
    virtual void accumulate(int passes) = 0;

    // Call once, before the first step. From then on, in the last pass of a step, backward() passes each of these
    // gradients to `alter` before it is exchanged or announced.
    virtual void alter_gradients(const std::vector<std::size_t>& tensors, AlterGradient alter) = 0;

    // The gradients after backward(), one span for each tensor, in the same order on all ranks; in a model that updates
    // a shard, only the shard's gradients. update() uses changes made to them.
    virtual std::vector<std::span<float>> gradients() = 0;

    // Names of the gradients; may be called at any time.
    virtual std::vector<std::string> gradient_names() = 0;
};

// Throws UsageError if the model has no gradients.
GradientModel& gradients_of(Model& model);

}  // namespace ddl
