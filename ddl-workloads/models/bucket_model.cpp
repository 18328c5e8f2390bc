// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/bucket_model.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <future>
#include <numeric>

namespace ddl {

namespace {

constexpr int steps_of_a_pattern = 97;
constexpr float learning_rate = 0x1p-10F;

}  // namespace

BucketModel::BucketModel(const std::vector<std::size_t>& sizes, int rank)
    : rank_{rank},
      gradients_(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), 1.0F),
      sharded_(2 * sizes.size()),
      parameters_{sharded_},
      updated_end_{sharded_.size()}
{
    std::size_t begin = 0;
    for (const std::size_t size : sizes) {
        buckets_.push_back({.index = buckets_.size(),
                            .gradients = std::span{gradients_}.subspan(begin, size),
                            .last = buckets_.size() + 1 == sizes.size()});
        begin += size;
    }
}

std::span<std::byte> BucketModel::update_shard(int shard, int shards)
{
    const std::size_t count = parameters_.size();
    const auto all = static_cast<std::size_t>(shards);
    const std::size_t buckets_of_a_shard = (buckets_.size() + all - 1) / all;
    const std::size_t length = 2 * buckets_of_a_shard;
    for (Bucket& bucket : buckets_)
        bucket.parts = {{.shard = static_cast<int>(bucket.index / buckets_of_a_shard),
                         .begin = 0,
                         .length = bucket.gradients.size()}};
    sharded_.resize(length * all);
    parameters_ = std::span{sharded_}.first(count);
    updated_begin_ = std::min(count, length * static_cast<std::size_t>(shard));
    updated_end_ = std::min(count, updated_begin_ + length);
    return std::as_writable_bytes(std::span{sharded_});
}

void BucketModel::alter_gradients(const std::vector<std::size_t>& tensors, AlterGradient alter)
{
    altered_ = tensors;
    alter_ = std::move(alter);
}

void BucketModel::backward()
{
    std::vector<std::future<void>> exchanges;
    const bool last_pass = ++pass_ == passes_;
    for (const Bucket& bucket : buckets_) {
        complete(bucket);
        fill(bucket.index);
        if (!last_pass) continue;
        if (std::find(altered_.begin(), altered_.end(), bucket.index) != altered_.end())
            alter_(bucket.index, bucket.gradients);
        if (start_) exchanges.push_back(start_(bucket, {}));
        if (ready_) ready_(bucket.index, bucket.gradients, {});
    }
    for (std::future<void>& exchange : exchanges) exchange.get();
}

void BucketModel::fill(std::size_t bucket)
{
    const std::span<float> gradients = buckets_[bucket].gradients;
    gradients.front() = static_cast<float>(rank_ + 1);
    gradients.back() = static_cast<float>(rank_ + steps_ % steps_of_a_pattern);
}

// A real update would run on the device. This one adds only the first and last number of each averaged bucket to the
// parameters, so that the ranks end with equal parameters if and only if every exchange of every step was right at
// these places.
void BucketModel::update()
{
    for (std::size_t i = updated_begin_; i < updated_end_; ++i) {
        const std::span<const float> gradients = buckets_[i / 2].gradients;
        parameters_[i] += learning_rate * (i % 2 == 0 ? gradients.front() : gradients.back());
    }
    ++steps_;
    pass_ = 0;
}

std::vector<std::span<float>> BucketModel::gradients()
{
    std::vector<std::span<float>> all;
    for (std::size_t i = updated_begin_ / 2; i < updated_end_ / 2; ++i) all.push_back(buckets_[i].gradients);
    return all;
}

// A checkpoint also stores the gradients in place of the parameters of a real model, which would be as large.
std::vector<StateTensor> BucketModel::state()
{
    const auto floats = [](std::string path, std::span<float> values) {
        return StateTensor{.path = std::move(path),
                           .type = ElementType::float32,
                           .shape = {static_cast<std::int64_t>(values.size())},
                           .bytes = std::as_writable_bytes(values)};
    };
    std::vector<StateTensor> all{floats("model/ends", parameters_)};
    all.push_back({.path = "model/steps",
                   .type = ElementType::int64,
                   .shape = {},
                   .bytes = std::as_writable_bytes(std::span{&steps_, 1})});
    for (const Bucket& bucket : buckets_) {
        all.push_back(floats(base::join("model/bucket.", bucket.index), bucket.gradients));
        // A rank does not update the gradients of other ranks' shards, so ranks differ. The next step computes all
        // gradients anew.
        if (!bucket.parts.empty()) all.back().owner = Owner::rank0;
    }
    return all;
}

std::vector<std::string> BucketModel::gradient_names()
{
    std::vector<std::string> names;
    for (const Bucket& bucket : buckets_) names.push_back(base::join("bucket ", bucket.index));
    return names;
}

}  // namespace ddl
