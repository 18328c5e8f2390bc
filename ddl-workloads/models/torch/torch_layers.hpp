// SPDX-License-Identifier: Apache-2.0
// A LayeredModel made of the layers of a network.
#pragma once

#include "ddl-workloads/models/layered_model.hpp"
#include "ddl-workloads/models/torch/device/torch_device.hpp"
#include "ddl-workloads/models/torch/torch_network.hpp"

#include <functional>
#include <vector>

namespace ddl {

class TorchLayers : public LayeredModel {
 public:
    // `inputs_of` converts the batch to tensors on the computing device; the batch is kept alive as long as they are.
    TorchLayers(LayeredNetwork& network, const TorchDevice& device, std::function<Inputs(const Batch&)> inputs_of);

    std::vector<std::string> layer_names() const override;
    std::size_t output_size(std::size_t layer, std::int64_t samples) const override;
    void take_parts(std::vector<Batch> parts) override;
    void put_input(std::size_t layer, std::size_t part, std::span<const float> numbers) override;
    void forward_layer(std::size_t layer, std::size_t part) override;
    std::span<const float> output(std::size_t layer, std::size_t part) override;
    void put_output_gradient(std::size_t layer, std::size_t part, std::span<const float> numbers) override;
    void backward_layer(std::size_t layer, std::size_t part) override;
    std::span<const float> input_gradient(std::size_t layer, std::size_t part) override;
    std::optional<double> part_loss(std::size_t part) const override;

 private:
    // Tensors of one layer and part; undefined if not computed yet, or released.
    struct Place {
        torch::Tensor input;  // detached from the previous layer, so that the layer's backward ends here
        torch::Tensor output;
        torch::Tensor output_gradient;
        torch::Tensor seen_output;  // copy on the host
        torch::Tensor seen_input_gradient;
    };
    struct Part {
        Batch batch;
        Inputs inputs;
        torch::Tensor loss;
        std::vector<Place> places;  // by layer
    };

    bool is_last(std::size_t layer) const { return layer + 1 == network_.layers(); }
    std::vector<std::int64_t> shape(std::size_t layer, const Part& part) const;
    torch::Tensor put(std::span<const float> numbers, const std::vector<std::int64_t>& shape) const;
    std::span<const float> seen(const torch::Tensor& tensor, torch::Tensor& on_host) const;

    LayeredNetwork& network_;
    const TorchDevice& device_;
    std::function<Inputs(const Batch&)> inputs_of_;
    std::vector<Part> parts_;
};

}  // namespace ddl
