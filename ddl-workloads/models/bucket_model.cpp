#include "ddl-workloads/models/bucket_model.hpp"

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
      parameters_(2 * sizes.size())
{
    std::size_t begin = 0;
    for (const std::size_t size : sizes) {
        buckets_.push_back({.index = buckets_.size(),
                            .gradients = std::span{gradients_}.subspan(begin, size),
                            .last = buckets_.size() + 1 == sizes.size()});
        begin += size;
    }
}

void BucketModel::backward()
{
    std::vector<std::future<void>> exchanges;
    for (const Bucket& bucket : buckets_) {
        complete(bucket);
        bucket.gradients.front() = static_cast<float>(rank_ + 1);
        bucket.gradients.back() = static_cast<float>(rank_ + steps_ % steps_of_a_pattern);
        if (start_) exchanges.push_back(start_(bucket, {}));
    }
    for (std::future<void>& exchange : exchanges) exchange.get();
}

// A real update would run on the device. This one only remembers both ends of each averaged bucket, so that ranks end
// with equal parameters if, and only if, every exchange of every step was right there.
void BucketModel::update()
{
    for (const Bucket& bucket : buckets_) {
        parameters_[2 * bucket.index] += learning_rate * bucket.gradients.front();
        parameters_[2 * bucket.index + 1] += learning_rate * bucket.gradients.back();
    }
    ++steps_;
}

std::vector<std::span<float>> BucketModel::gradients()
{
    std::vector<std::span<float>> all;
    for (const Bucket& bucket : buckets_) all.push_back(bucket.gradients);
    return all;
}

}  // namespace ddl
