// SPDX-License-Identifier: Apache-2.0
// Models whose layers can be computed one by one, on different ranks and for several parts of a batch at once, as
// pipelines and coded products need it.
#pragma once

#include "ddl-workloads/data/loading/batch.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// A step computes layers of parts of its batch: forward in ascending order of the layers of a part, backward in
// descending order; what each layer needs from the one beside it is there, computed here or put in. Gradients of
// parameters add up over parts, each divided by their number, until Model::update(). All numbers are the host's.
class LayeredModel {
 public:
    virtual ~LayeredModel() = default;

    virtual std::vector<std::string> layer_names() const = 0;

    // How many numbers the layer gives to the next one for `samples` samples. None for the last, which gives the loss.
    virtual std::size_t output_size(std::size_t layer, std::int64_t samples) const = 0;

    // A new step, with a batch for each part. Ranks without the first and the last layer need only the numbers of
    // samples.
    virtual void take_parts(std::vector<Batch> parts) = 0;

    virtual void put_input(std::size_t layer, std::size_t part, std::span<const float> numbers) = 0;
    virtual void forward_layer(std::size_t layer, std::size_t part) = 0;
    // Valid until the layer's backward.
    virtual std::span<const float> output(std::size_t layer, std::size_t part) = 0;

    virtual void put_output_gradient(std::size_t layer, std::size_t part, std::span<const float> numbers) = 0;
    virtual void backward_layer(std::size_t layer, std::size_t part) = 0;
    // With respect to the layer's input, from its backward on until the next step; none of the first layer.
    virtual std::span<const float> input_gradient(std::size_t layer, std::size_t part) = 0;

    // The loss of a part, once its last layer is computed here; none of models that do not learn.
    virtual std::optional<double> part_loss(std::size_t part) const = 0;
};

}  // namespace ddl
