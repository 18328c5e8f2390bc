// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/tensor.hpp"

namespace soft_errors {

InChunk in_chunk(const Tensor& tensor, std::uint64_t index)
{
    InChunk place;
    std::uint64_t chunk_step = 1;
    std::uint64_t step = 1;
    for (std::size_t at = tensor.shape.size(); at-- > 0;) {
        const std::uint64_t size = tensor.chunk[at];
        const std::uint64_t coordinate = index % tensor.shape[at];
        index /= tensor.shape[at];
        place.chunk += coordinate / size * chunk_step;
        place.index += coordinate % size * step;
        chunk_step *= (tensor.shape[at] + size - 1) / size;
        step *= size;
    }
    return place;
}

std::vector<std::uint64_t> begin_of_chunk(const Tensor& tensor, std::uint64_t chunk)
{
    std::vector<std::uint64_t> begin(tensor.shape.size());
    for (std::size_t at = begin.size(); at-- > 0;) {
        const std::uint64_t chunks = (tensor.shape[at] + tensor.chunk[at] - 1) / tensor.chunk[at];
        begin[at] = chunk % chunks * tensor.chunk[at];
        chunk /= chunks;
    }
    return begin;
}

}  // namespace soft_errors
