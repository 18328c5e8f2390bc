// SPDX-License-Identifier: Apache-2.0
// The memory of all parameters in one piece, cut into equal shards, of which this rank updates one.
#pragma once

#include "ddl-workloads/transports/shard_parts.hpp"

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
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

    // Gradients of the parameters in this shard: views of them, one row each.
    std::vector<torch::Tensor> gradients() const;

    // This shard of another tensor such as all().
    torch::Tensor mine_of(const torch::Tensor& all) const { return all.narrow(0, begin_, length_); }

    // The shard's gradient becomes that.
    void take_gradients();

 private:
    // Part of a parameter in this shard, in elements.
    struct Part {
        torch::Tensor parameter;
        std::int64_t in_parameter = 0;
        std::int64_t in_shard = 0;
        std::int64_t length = 0;
    };

    std::int64_t length_;  // of a shard
    std::int64_t begin_;   // of this one
    torch::Tensor all_;
    torch::Tensor mine_;
    std::vector<Part> parts_;
};

}  // namespace ddl
