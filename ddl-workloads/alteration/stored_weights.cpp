// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/alteration/stored_weights.hpp"

#include "base/cli/option_checks.hpp"
#include "base/contract/stored_state.hpp"
#include "base/contract/trials.hpp"
#include "base/error.hpp"
#include "ddl-workloads/models/gradient_model.hpp"

#include <algorithm>

namespace ddl {

namespace {

constexpr std::size_t most_paths_of_weights = 10;
constexpr const char* begin_of_weights = "model/";

// A model sharded over the ranks is refused: no gradients are exchanged for a shard.
std::vector<std::string> weights_of(Model& model, const std::string& location)
{
    std::vector<std::string> parameters;
    for (const std::string& name : gradients_of(model).gradient_names()) parameters.push_back(begin_of_weights + name);
    const std::string wanted = begin_of_weights + location;
    std::vector<std::string> paths;
    for (const StateTensor& tensor : model.state()) {
        const bool own = tensor.owner == Owner::each && tensor.path.starts_with(begin_of_weights);
        const bool parameter = std::find(parameters.begin(), parameters.end(), tensor.path) != parameters.end();
        if ((own || parameter) && tensor.type == ElementType::float32 && tensor.path.starts_with(wanted))
            paths.push_back(tensor.path);
    }
    if (paths.empty())
        base::fail_usage("no weights to store: the model has no 32-bit parameter whose name begins with '", location,
                         "'");
    return paths;
}

}  // namespace

StoredWeights::StoredWeights(Model& model, const soft_errors::WeightMemory& memory, const std::string& location,
                             std::uint64_t seed, std::uint64_t stream)
    : model_{model}, memory_{memory}, tensors_{weights_of(model, location)}, random_{base::random_stream(seed, stream)}
{
    for (std::size_t i = 0; i < std::min(tensors_.size(), most_paths_of_weights); ++i)
        paths_ += (i == 0 ? "" : std::string{base::path_separator}) + tensors_[i];
}

std::vector<std::span<float>> StoredWeights::weights()
{
    std::vector<std::span<float>> all;
    for (const StateTensor& tensor : model_.state())
        if (std::find(tensors_.begin(), tensors_.end(), tensor.path) != tensors_.end())
            all.emplace_back(reinterpret_cast<float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float));
    return all;
}

void StoredWeights::read()
{
    sound_.clear();
    for (const std::span<float> tensor : weights()) {
        sound_.emplace_back(tensor.begin(), tensor.end());
        const soft_errors::WeightRead one = soft_errors::read_weights(memory_, tensor, random_);
        sum_.bits += one.bits;
        sum_.flipped += one.flipped;
        sum_.detected += one.detected;
    }
    model_.restored();
}

void StoredWeights::put_back()
{
    const std::vector<std::span<float>> now = weights();
    for (std::size_t i = 0; i < now.size(); ++i) std::copy(sound_.at(i).begin(), sound_.at(i).end(), now[i].begin());
    sound_.clear();
    model_.restored();
}

void add_store_options(base::Options& options, StorePlan& plan)
{
    options.add_choice(
        "store", plan.code, {base::stored::codes.begin(), base::stored::codes.end()},
        "keep the weights in emulated memory with bit flips, in this code; forward uses the values read, updates "
        "use the correct ones");
    options.add_choice(
        "detect", plan.detection, {base::stored::detections.begin(), base::stored::detections.end()},
        "with --store: how damaged weights are found; they become 0 or the nearest value of their tensor's range");
    options.add_word("bit-error-rate", "", "with --store: probability that a bit flips in a read, such as 1e-6",
                     "RATE");
    options.then([&options, &plan] {
        for (const char* name : {"detect", "bit-error-rate"})
            if (!plan.on() && options.given(name)) base::fail_usage("--", name, ": needs --store");
        const std::string& rate = options.text("bit-error-rate");
        if (!rate.empty()) plan.rate = base::parsed<double>("--bit-error-rate", rate);
        if (!plan.on()) return;
        if (!(plan.rate >= 0.0 && plan.rate <= 1.0))
            base::fail_usage("--bit-error-rate must be a probability from 0 to 1, not ", rate);
    });
}

}  // namespace ddl
