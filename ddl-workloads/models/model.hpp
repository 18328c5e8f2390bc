// What is trained: a plug-in that computes; when its gradients are exchanged is the strategy's business.
#pragma once

#include "base/cli/cards.hpp"
#include "ddl-workloads/data/loading/loader.hpp"
#include "ddl-workloads/devices/device_plan.hpp"
#include "ddl-workloads/models/state_tensor.hpp"
#include "ddl-workloads/transports/shard_parts.hpp"
#include "ddl-workloads/transports/transport.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

class Details;
class ExchangeThread;
class LayeredModel;

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

// Hears of a gradient tensor, by its place among gradients(), as soon as it is complete on this rank. `arrive`, if any,
// is to be called before the gradient is read, on any thread: it waits until a device has sent it.
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

// Used by the main thread. All memory that it shows is the host's; if a device computes, it is a copy of the device's,
// made by the call that shows it. A step is take, forward, backward (several times, if it accumulates) and update.
class Model {
 public:
    virtual ~Model() = default;

    // Memory that ranks must agree on at the start: parameters, and what the model learns beside them (running means).
    virtual std::vector<std::span<std::byte>> parameters() = 0;
    virtual std::vector<std::span<std::byte>> statistics() { return {}; }
    virtual std::int64_t parameter_count() const = 0;  // of the whole model

    // To be called after a write into what parameters(), statistics() or update_shard() gave last.
    virtual void written(const std::vector<std::span<std::byte>>& /*memory*/) {}

    // What this rank alone holds of a model that is divided over the ranks, such as embedding tables.
    virtual std::vector<std::span<std::byte>> own_parameters() { return {}; }

    // To be called once, after ranks agree on the parameters: from then on backward() cuts its gradients into buckets,
    // calls `start` for each as soon as it is complete, in the same order on all ranks, and returns when all are done.
    virtual void exchange_in_buckets(const BucketCaps& caps, ExchangeThread& exchanges, StartExchange start) = 0;

    // To be called once, instead: from then on backward() reports each gradient while it runs, ranks in orders of
    // their own.
    virtual void announce_gradients(GradientReady ready) = 0;

    // To be called before those, once ranks agree on the parameters: from then on update() changes one of equal shards
    // of the parameters, and keeps the optimizer's state of no other. All shards in order, equally long.
    virtual std::span<std::byte> update_shard(int shard, int shards) = 0;

    // From now on the gradients of so many passes (take, forward, backward) add up, each divided by their number. Only
    // the last of them exchanges or announces.
    virtual void accumulate(int passes) = 0;

    // To be called once, before the first step: from then on backward() shows each of these gradients, in the last pass
    // of a step, before it is exchanged or announced.
    virtual void alter_gradients(const std::vector<std::size_t>& tensors, AlterGradient alter) = 0;

    // Its layers, one by one, in the place of take(), forward() and backward(); null: it has none of its own. A model
    // whose card offers `layered` has some.
    virtual LayeredModel* layered() { return nullptr; }

    // The batch goes to where the model computes.
    virtual void take(Batch batch) = 0;
    virtual void forward() = 0;
    virtual void backward() = 0;
    virtual void update() = 0;

    // Complete after backward(), one span a tensor, in the same order on all ranks; of a model that updates a shard,
    // what belongs to it. Update() uses what is written into them.
    virtual std::vector<std::span<float>> gradients() = 0;

    // Names of the gradients, at any time.
    virtual std::vector<std::string> gradient_names() = 0;

    // All that the next steps depend on, between two steps: parameters, statistics, the optimizer's, random numbers.
    // The views hold until the next step. After a write into them restored() is called. A model without any
    // cannot be checkpointed.
    virtual std::vector<StateTensor> state() { return {}; }
    virtual void restored() {}

    // One that does not has neither a loss nor answers.
    virtual bool learns() const { return false; }

    // Of the last forward().
    virtual std::optional<double> loss() const { return std::nullopt; }

    // How many of the batch's answers (SampleShape::answers() of each sample) it guesses right: classes of images, next
    // bytes of text. Only for models with a loss. Changes nothing. All ranks call it as often as each other, for those
    // of a divided model guess together; a batch may be empty.
    virtual std::int64_t count_correct(const Batch&) { return 0; }

    // The number of the GPU that computes it, if one does.
    virtual std::optional<int> gpu() const { return std::nullopt; }

    // Does its computing go on while the process is stopped (SIGSTOP), as on a GPU?
    virtual bool computes_while_stopped() const { return false; }

    // For the run record: versions, threads that are really in effect.
    virtual nlohmann::ordered_json describe() const { return nlohmann::ordered_json::object(); }
};

struct OptimizerPlan {
    std::string name = "sgd";  // or "adamw"
    double learning_rate = 0.01;
    double momentum = 0.9;  // of sgd
    double weight_decay = 5e-4;
};

struct ModelPlan {
    SampleShape shape = {};
    OptimizerPlan optimizer = {};
    std::uint64_t seed = 1;
    int rank = 0;
    int local_rank = 0;
    int threads = 1;
    DevicePlan device = {};               // its number is that of this rank's GPU
    ExchangeThread* exchanges = nullptr;  // of models that are divided over the ranks
    Details* details = nullptr;           // null: none are recorded
};

struct ModelCard {
    std::string name;
    std::string summary;
    std::vector<base::OptionCard> options;
    std::unique_ptr<Model> (*make)(const base::Settings& settings, const ModelPlan& plan);
    base::Capabilities offers = {};
};

inline constexpr base::Capability device_choice{"a model that computes where --device says"};
inline constexpr base::Capability layered{"a model whose layers are computed one by one"};
inline constexpr base::Capability learning{"a model that learns"};

// All models: those that need no Torch, and the given ones (torch_models()).
base::Registry<ModelCard> model_registry(std::vector<const ModelCard*> more);

}  // namespace ddl
