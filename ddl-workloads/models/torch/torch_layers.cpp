// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/torch_layers.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

TorchLayers::TorchLayers(LayeredNetwork& network, const TorchDevice& device,
                         std::function<Inputs(const Batch&)> inputs_of)
    : network_{network}, device_{device}, inputs_of_{std::move(inputs_of)}
{
}

std::vector<std::string> TorchLayers::layer_names() const
{
    std::vector<std::string> names;
    for (std::size_t layer = 0; layer < network_.layers(); ++layer) names.push_back(network_.layer_name(layer));
    return names;
}

std::size_t TorchLayers::output_size(std::size_t layer, std::int64_t samples) const
{
    if (is_last(layer)) return 0;
    auto size = static_cast<std::size_t>(samples);
    for (const std::int64_t extent : network_.output_shape(layer)) size *= static_cast<std::size_t>(extent);
    return size;
}

void TorchLayers::take_parts(std::vector<Batch> parts)
{
    parts_.clear();
    parts_.resize(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Part& part = parts_[i];
        part.batch = std::move(parts[i]);
        part.inputs = inputs_of_(part.batch);
        part.places.resize(network_.layers());
    }
}

void TorchLayers::put_input(std::size_t layer, std::size_t part, std::span<const float> numbers)
{
    Part& there = parts_.at(part);
    there.places.at(layer).input = put(numbers, shape(layer - 1, there)).requires_grad_();
}

void TorchLayers::forward_layer(std::size_t layer, std::size_t part)
{
    Part& there = parts_.at(part);
    Place& place = there.places.at(layer);
    if (layer > 0 && !place.input.defined()) {
        const torch::Tensor& before = there.places[layer - 1].output;
        if (!before.defined()) base::fail("layer ", layer, " has no input");
        place.input = before.detach().requires_grad_();
    }
    const Autocast autocast{device_};
    torch::Tensor output = network_.forward_layer(layer, place.input, there.inputs);
    if (device_.plan().compute == Compute::bf16) output = output.to(torch::kFloat);
    if (is_last(layer))
        there.loss = network_.loss(output, network_.answers(there.inputs));
    else
        place.output = output;
}

std::span<const float> TorchLayers::output(std::size_t layer, std::size_t part)
{
    Place& place = parts_.at(part).places.at(layer);
    return seen(place.output, place.seen_output);
}

void TorchLayers::put_output_gradient(std::size_t layer, std::size_t part, std::span<const float> numbers)
{
    Part& there = parts_.at(part);
    there.places.at(layer).output_gradient = put(numbers, shape(layer, there));
}

void TorchLayers::backward_layer(std::size_t layer, std::size_t part)
{
    Part& there = parts_.at(part);
    Place& place = there.places.at(layer);
    if (is_last(layer)) {
        const auto count = static_cast<double>(parts_.size());
        (parts_.size() == 1 ? there.loss : there.loss / count).backward();
        return;
    }
    if (!place.output_gradient.defined()) place.output_gradient = there.places[layer + 1].input.grad();
    if (!place.output_gradient.defined()) base::fail("the output of layer ", layer, " has no gradient");
    place.output.backward(place.output_gradient);
    place.output.reset();
}

std::span<const float> TorchLayers::input_gradient(std::size_t layer, std::size_t part)
{
    Place& place = parts_.at(part).places.at(layer);
    return seen(place.input.grad(), place.seen_input_gradient);
}

std::optional<double> TorchLayers::part_loss(std::size_t part) const
{
    const torch::Tensor& loss = parts_.at(part).loss;
    if (!loss.defined()) return std::nullopt;
    return loss.item<double>();
}

std::vector<std::int64_t> TorchLayers::shape(std::size_t layer, const Part& part) const
{
    std::vector<std::int64_t> shape{part.batch.samples};
    const std::vector<std::int64_t> of_sample = network_.output_shape(layer);
    shape.insert(shape.end(), of_sample.begin(), of_sample.end());
    return shape;
}

torch::Tensor TorchLayers::put(std::span<const float> numbers, const std::vector<std::int64_t>& shape) const
{
    torch::Tensor tensor = torch::empty(shape);
    if (tensor.numel() != static_cast<std::int64_t>(numbers.size()))
        base::fail(numbers.size(), " values were given where a layer takes ", tensor.numel());
    std::copy(numbers.begin(), numbers.end(), tensor.data_ptr<float>());
    return device_.is_apart() ? device_.moved(tensor) : tensor;
}

std::span<const float> TorchLayers::seen(const torch::Tensor& tensor, torch::Tensor& on_host) const
{
    if (!tensor.defined()) base::fail("a layer that was not computed has no values");
    on_host = tensor.detach().to(torch::kCPU).contiguous();
    return {on_host.data_ptr<float>(), static_cast<std::size_t>(on_host.numel())};
}

}  // namespace ddl
