// SPDX-License-Identifier: Apache-2.0
// Puts all parameters into one piece of memory, cut into equal shards, of which this rank updates one.
#pragma once

#include "ddl-workloads/transports/shard_parts.hpp"

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ddl {

class ParameterShards {
 public:
    // Moves the parameters into that memory; their values do not change.
    ParameterShards(const std::vector<torch::Tensor>& parameters, int shard, int shards);

    const torch::Tensor& all() const { return all_; }
    const torch::Tensor& mine() const { return mine_; }
    std::int64_t parameter_count() const;  // parameters in this shard

    // The shards that the gradients of these parameters belong to, if stored one after the other.
    std::vector<ShardPart> parts_of(const std::vector<torch::Tensor>& parameters) const;

    // Gradients of the parameters in this shard, as one-dimensional views.
    std::vector<torch::Tensor> gradients() const;

    // This rank's shard of a tensor that is laid out like all().
    torch::Tensor mine_of(const torch::Tensor& all) const { return all.narrow(0, begin_, length_); }

    // Copies the parameters' gradients into the shard's gradient.
    void take_gradients();

 private:
    // The part of a parameter that lies in this shard; offsets and length in elements.
    struct Part {
        torch::Tensor parameter;
        std::int64_t in_parameter = 0;
        std::int64_t in_shard = 0;
        std::int64_t length = 0;
    };

    std::int64_t length_;  // of each shard
    std::int64_t begin_;   // of this rank's shard
    torch::Tensor all_;
    torch::Tensor mine_;
    std::vector<Part> parts_;
};

}  // namespace ddl
