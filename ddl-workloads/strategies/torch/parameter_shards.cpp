#include "ddl-workloads/strategies/torch/parameter_shards.hpp"

#include <algorithm>

namespace ddl {

namespace {

constexpr std::int64_t alignment = 16;  // elements: LibTorch's own memory begins at multiples of 64 bytes, too

std::int64_t room_of(const torch::Tensor& parameter)
{
    return (parameter.numel() + alignment - 1) / alignment * alignment;
}

}  // namespace

ParameterShards::ParameterShards(const std::vector<torch::Tensor>& parameters, int shard, int shards)
{
    const torch::NoGradGuard no_gradients;
    std::int64_t room = 0;
    for (const torch::Tensor& parameter : parameters) room += room_of(parameter);
    const std::int64_t length = (room + shards - 1) / shards;
    const std::int64_t begin = length * shard;
    const std::int64_t end = begin + length;
    all_ = torch::zeros({length * shards});
    mine_ = all_.narrow(0, begin, length);
    mine_.mutable_grad() = torch::zeros({length});

    std::int64_t at = 0;
    for (const torch::Tensor& parameter : parameters) {
        const std::int64_t count = parameter.numel();
        const torch::Tensor place = all_.narrow(0, at, count).view_as(parameter);
        place.copy_(parameter);
        parameter.set_data(place);
        const std::int64_t from = std::max(at, begin);
        const std::int64_t to = std::min(at + count, end);
        if (from < to) parts_.push_back({parameter, from - at, from - begin, to - from});
        at += room_of(parameter);
    }
}

std::int64_t ParameterShards::parameter_count() const
{
    std::int64_t count = 0;
    for (const Part& part : parts_) count += part.length;
    return count;
}

void ParameterShards::take_gradients()
{
    const torch::NoGradGuard no_gradients;
    for (const Part& part : parts_) {
        const torch::Tensor gradient = part.parameter.grad().reshape(-1).narrow(0, part.in_parameter, part.length);
        mine_.mutable_grad().narrow(0, part.in_shard, part.length).copy_(gradient);
    }
}

}  // namespace ddl
