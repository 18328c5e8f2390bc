// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/parameter_shards.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

namespace {

constexpr std::int64_t alignment = 16;  // elements: LibTorch also aligns memory to 64 bytes

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
    length_ = (room + shards - 1) / shards;
    begin_ = length_ * shard;
    const std::int64_t end = begin_ + length_;
    const torch::TensorOptions floats = torch::TensorOptions{torch::kFloat}.device(parameters.front().device());
    all_ = torch::zeros({length_ * shards}, floats);
    mine_ = mine_of(all_);
    mine_.mutable_grad() = torch::zeros({length_}, floats);

    std::int64_t at = 0;
    for (const torch::Tensor& parameter : parameters) {
        const std::int64_t count = parameter.numel();
        const torch::Tensor place = all_.narrow(0, at, count).view_as(parameter);
        place.copy_(parameter);
        parameter.set_data(place);
        const std::int64_t from = std::max(at, begin_);
        const std::int64_t to = std::min(at + count, end);
        if (from < to) parts_.push_back({parameter, from - at, from - begin_, to - from});
        at += room_of(parameter);
    }
}

std::int64_t ParameterShards::parameter_count() const
{
    std::int64_t count = 0;
    for (const Part& part : parts_) count += part.length;
    return count;
}

std::vector<ShardPart> ParameterShards::parts_of(const std::vector<torch::Tensor>& parameters) const
{
    std::vector<ShardPart> parts;
    std::size_t begin = 0;
    for (const torch::Tensor& parameter : parameters) {
        std::int64_t at = parameter.data_ptr<float>() - all_.data_ptr<float>();
        for (const std::int64_t end = at + parameter.numel(); at < end;) {
            const std::int64_t shard = at / length_;
            const std::int64_t length = std::min(end, (shard + 1) * length_) - at;
            parts.push_back({static_cast<int>(shard), begin, static_cast<std::size_t>(length)});
            begin += parts.back().length;
            at += length;
        }
    }
    return parts;
}

std::vector<torch::Tensor> ParameterShards::gradients() const
{
    std::vector<torch::Tensor> all;
    for (const Part& part : parts_) {
        const torch::Tensor& gradient = part.parameter.grad();
        if (!gradient.is_contiguous()) base::fail("a gradient is not contiguous");
        all.push_back(gradient.view({-1}).narrow(0, part.in_parameter, part.length));
    }
    return all;
}

void ParameterShards::take_gradients()
{
    const torch::NoGradGuard no_gradients;
    const std::vector<torch::Tensor> all = gradients();
    for (std::size_t i = 0; i < all.size(); ++i)
        mine_.grad().narrow(0, parts_[i].in_shard, parts_[i].length).copy_(all[i]);
}

}  // namespace ddl
