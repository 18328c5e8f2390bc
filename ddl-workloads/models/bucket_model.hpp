// SPDX-License-Identifier: Apache-2.0
// Base class of models that do not learn: gradients of given sizes, cut into buckets that become ready one after the
// other, and parameters that show whether each bucket was exchanged correctly.
#pragma once

#include "ddl-workloads/models/gradient_model.hpp"

#include <cstddef>
#include <vector>

namespace ddl {

class BucketModel : public GradientModel {
 public:
    // `sizes`: how many numbers each bucket holds (at least one), in the order in which backward completes the buckets.
    BucketModel(const std::vector<std::size_t>& sizes, int rank);

    std::vector<std::span<std::byte>> parameters() override { return {std::as_writable_bytes(parameters_)}; }
    std::int64_t parameter_count() const override { return static_cast<std::int64_t>(gradients_.size()); }
    void exchange_in_buckets(const BucketCaps&, ExchangeThread&, StartExchange start) override
    {
        start_ = std::move(start);
    }
    void announce_gradients(GradientReady ready) override { ready_ = std::move(ready); }
    void alter_gradients(const std::vector<std::size_t>& tensors, AlterGradient alter) override;
    std::span<std::byte> update_shard(int shard, int shards) override;
    void accumulate(int passes) override { passes_ = passes; }
    void take(Batch) override {}
    void backward() override;
    void update() override;
    std::vector<std::span<float>> gradients() override;
    std::vector<StateTensor> state() override;
    std::vector<std::string> gradient_names() override;

 protected:
    // Does the computing that completes the bucket.
    virtual void complete(const Bucket& bucket) = 0;
    // Writes this step's gradients into the bucket.
    void fill(std::size_t bucket);
    std::int64_t steps() const { return steps_; }  // complete steps

 private:
    int rank_;
    std::int64_t steps_ = 0;
    int passes_ = 1;
    int pass_ = 0;  // passes made in this step
    std::vector<float> gradients_;
    std::vector<float> sharded_;  // the parameters, padded so that all shards are equal
    std::span<float> parameters_;
    std::size_t updated_begin_ = 0;
    std::size_t updated_end_;
    std::vector<Bucket> buckets_;
    StartExchange start_;
    GradientReady ready_;
    std::vector<std::size_t> altered_;  // buckets whose gradients are altered
    AlterGradient alter_;
};

}  // namespace ddl
