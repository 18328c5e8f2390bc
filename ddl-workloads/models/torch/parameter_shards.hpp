// The memory of all parameters in one piece, cut into equal shards, of which this rank updates one.
#pragma once

#include "ddl-workloads/transports/shard_parts.hpp"

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddl {

class ParameterShards {
 public:
    // Moves the parameters there; they stay what they are otherwise.
    ParameterShards(const std::vector<torch::Tensor>& parameters, int shard, int shards);

    const torch::Tensor& all() const { return all_; }
    const torch::Tensor& mine() const { return mine_; }
    std::int64_t parameter_count() const;  // in this shard

    // Which shards the gradients of these parameters belong to, if they lie one after the other.
    std::vector<ShardPart> parts_of(const std::vector<torch::Tensor>& parameters) const;

    // What of the parameters' gradients belongs to this shard.
    std::vector<std::span<float>> gradients() const;

    // The shard's gradient becomes that.
    void take_gradients();

 private:
    // What of a parameter lies in this shard, in elements.
    struct Part {
        torch::Tensor parameter;
        std::int64_t in_parameter = 0;
        std::int64_t in_shard = 0;
        std::int64_t length = 0;
    };

    std::int64_t length_;  // of a shard
    torch::Tensor all_;
    torch::Tensor mine_;
    std::vector<Part> parts_;
};

}  // namespace ddl
