// SPDX-License-Identifier: Apache-2.0
// Models: plug-ins that compute the training. gradient_model.hpp and layered_model.hpp have what strategies ask of
// some.
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
class GradientModel;
class LayeredModel;

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

    // Parameters that this rank alone holds of a model that is divided over the ranks, such as embedding tables.
    virtual std::vector<std::span<std::byte>> own_parameters() { return {}; }

    // Its gradients, for strategies that exchange them; null: it has none that can be.
    virtual GradientModel* with_gradients() { return nullptr; }

    // Its layers, one by one, in the place of take(), forward() and backward(); null: it has none of its own. A model
    // whose card offers `layered` has some.
    virtual LayeredModel* layered() { return nullptr; }

    // The batch goes to where the model computes.
    virtual void take(Batch batch) = 0;
    virtual void forward() = 0;
    virtual void backward() = 0;
    virtual void update() = 0;

    // All that the next steps depend on, between two steps: parameters, statistics, the optimizer's, random numbers.
    // The views hold until the next step. After a write into them restored() is called. A model without any
    // cannot be checkpointed.
    virtual std::vector<StateTensor> state() { return {}; }
    virtual void restored() {}

    // False: the model has neither a loss nor answers.
    virtual bool learns() const { return false; }

    // Loss of the last forward().
    virtual std::optional<double> loss() const { return std::nullopt; }

    // How many of the batch's answers (SampleShape::answers() of each sample) it guesses right: classes of images, next
    // bytes of text. Only for models with a loss. Changes nothing. All ranks call it as often as each other, for those
    // of a divided model guess together; a batch may be empty.
    virtual std::int64_t count_correct(const Batch&) { return 0; }

    // The number of the GPU that computes it, if one does.
    virtual std::optional<int> gpu() const { return std::nullopt; }

    // Does its computing continue while the process is stopped (SIGSTOP), as on a GPU?
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
