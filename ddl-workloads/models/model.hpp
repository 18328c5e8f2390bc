// SPDX-License-Identifier: Apache-2.0
// Models: plug-ins that compute the training. The interfaces that some strategies need in addition are in
// gradient_model.hpp and layered_model.hpp.
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

class DenseModel;
class Details;
class ExchangeThread;
class GradientModel;
class LayeredModel;

// Used by the main thread. All memory that it exposes is host memory; if a device computes, the call that returns the
// memory copies it from the device. A step is take, forward, backward (several times with gradient accumulation) and
// update.
class Model {
 public:
    virtual ~Model() = default;

    // Memory that must be equal on all ranks at the start: parameters, and other learnt statistics (running means).
    virtual std::vector<std::span<std::byte>> parameters() = 0;
    virtual std::vector<std::span<std::byte>> statistics() { return {}; }
    virtual std::int64_t parameter_count() const = 0;  // of the whole model

    // Call after writing into memory last returned by parameters(), statistics() or update_shard().
    virtual void written(const std::vector<std::span<std::byte>>& /*memory*/) {}

    // Parameters that only this rank holds, in a model divided over the ranks; embedding tables, for example.
    virtual std::vector<std::span<std::byte>> own_parameters() { return {}; }

    // Interface to the gradients, for strategies that exchange them; null if the model has none to exchange.
    virtual GradientModel* with_gradients() { return nullptr; }

    // Interface to the layers, used instead of take(), forward() and backward(); null if the model has none. A model
    // whose card offers `layered` has them.
    virtual LayeredModel* layered() { return nullptr; }

    // Interface to the fully connected layers, for strategies that compute their products; null if there are none. A
    // model whose card offers `dense_layers` has them.
    virtual DenseModel* with_dense_layers() { return nullptr; }

    // Collective. Call before a checkpoint, between two steps: checks, and if need be repairs, parameters that a
    // strategy keeps. Returns false if they are wrong and must not be written.
    virtual bool verify() { return true; }

    // Collective. Call before parameters(), state() or count_correct() are used outside of a step: brings parameters
    // that a strategy keeps up to date.
    virtual void complete() {}

    // Moves the batch to the device that computes.
    virtual void take(Batch batch) = 0;
    virtual void forward() = 0;
    virtual void backward() = 0;
    virtual void update() = 0;

    // Everything that the next steps depend on: parameters, statistics, optimizer state, random numbers. Call between
    // two steps; the views are valid until the next step. After a write into them, call restored(). A model without
    // state cannot be checkpointed.
    virtual std::vector<StateTensor> state() { return {}; }
    virtual void restored() {}

    // False if the model has neither a loss nor answers.
    virtual bool learns() const { return false; }

    // Loss of the last forward pass.
    virtual std::optional<double> loss() const { return std::nullopt; }

    // How many answers of the batch (SampleShape::answers() for each sample) the model predicts correctly: classes of
    // images, next bytes of texts. Only for models with a loss. Does not change the model. All ranks must call it
    // equally often, since the ranks of a divided model compute together; a batch may be empty.
    virtual std::int64_t count_correct(const Batch&) { return 0; }

    // Number of the GPU that computes the model; none on a CPU.
    virtual std::optional<int> gpu() const { return std::nullopt; }

    // True if computing continues while the process is stopped (SIGSTOP), as on a GPU.
    virtual bool computes_while_stopped() const { return false; }

    // After the last step: a request of the user that was not met (exit code 3).
    virtual std::optional<std::string> broken_promise() const { return std::nullopt; }

    // For the run record: versions, and the number of threads in effect.
    virtual nlohmann::ordered_json describe() const { return nlohmann::ordered_json::object(); }
};

struct OptimizerPlan {
    std::string name = "sgd";  // "sgd" or "adamw"
    double learning_rate = 0.01;
    double momentum = 0.9;  // for sgd
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
    ExchangeThread* exchanges = nullptr;  // for models divided over the ranks
    Details* details = nullptr;           // null: no details are recorded
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

// All models: those that need no Torch, and `more` (torch_models()).
base::Registry<ModelCard> model_registry(std::vector<const ModelCard*> more);

}  // namespace ddl
