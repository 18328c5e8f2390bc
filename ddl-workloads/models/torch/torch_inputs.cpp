// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/torch_inputs.hpp"

#include <vector>

namespace ddl {

namespace {

// LibTorch takes non-const memory even if it only reads it.
template <class Number>
torch::Tensor view(const std::vector<Number>& numbers, at::IntArrayRef shape)
{
    return torch::from_blob(const_cast<Number*>(numbers.data()), shape, c10::CppTypeToScalarType<Number>::value);
}

}  // namespace

Inputs inputs_of(const Batch& batch, const SampleShape& shape, const TorchDevice& device)
{
    const std::int64_t samples = batch.samples;
    const auto there = [&](const auto& numbers, at::IntArrayRef extents) {
        return device.moved(view(numbers, extents));
    };
    switch (shape.kind) {
        case SampleShape::Kind::text:
            return {.images = {}, .labels = {}, .tokens = there(batch.tokens, {samples, shape.length + 1})};
        case SampleShape::Kind::clicks:
            return {.images = there(batch.images, {samples, shape.dense}),
                    .labels = there(batch.labels, {samples}),
                    .tokens = there(batch.tokens, {samples, shape.categories})};
        case SampleShape::Kind::image:
            break;
    }
    return {.images = there(batch.images, {samples, shape.channels, shape.height, shape.width}),
            .labels = there(batch.labels, {samples}),
            .tokens = {}};
}

}  // namespace ddl
