// SPDX-License-Identifier: Apache-2.0
// Models whose layers can be computed one by one, on different ranks and for several parts of a batch simultaneously,
// as pipelines and coded products need.
#pragma once

#include "ddl-workloads/data/loading/batch.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// A step computes each part of its batch layer by layer: forward in ascending order, backward in descending order. The
// input of each layer must be present, computed here or passed in by put_input() or put_output_gradient(). Parameter
// gradients are averaged over the parts until Model::update(). All numbers are in host memory.
class LayeredModel {
 public:
    virtual ~LayeredModel() = default;

    virtual std::vector<std::string> layer_names() const = 0;

    // How many numbers the layer passes to the next one for `samples` samples. 0 for the last layer, which computes the
    // loss.
    virtual std::size_t output_size(std::size_t layer, std::int64_t samples) const = 0;

    // Starts a step with one batch for each part. Ranks without the first and the last layer need only the batches'
    // sizes.
    virtual void take_parts(std::vector<Batch> parts) = 0;

    virtual void put_input(std::size_t layer, std::size_t part, std::span<const float> numbers) = 0;
    virtual void forward_layer(std::size_t layer, std::size_t part) = 0;
    // The output is valid until the layer's backward.
    virtual std::span<const float> output(std::size_t layer, std::size_t part) = 0;

    virtual void put_output_gradient(std::size_t layer, std::size_t part, std::span<const float> numbers) = 0;
    virtual void backward_layer(std::size_t layer, std::size_t part) = 0;
    // Gradient of the layer's input, valid from the layer's backward until the next step; empty for the first layer.
    virtual std::span<const float> input_gradient(std::size_t layer, std::size_t part) = 0;

    // Loss of a part, once its last layer is computed on this rank; none in models that do not learn.
    virtual std::optional<double> part_loss(std::size_t part) const = 0;
};

}  // namespace ddl
