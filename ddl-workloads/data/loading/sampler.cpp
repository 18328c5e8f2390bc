// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/loading/sampler.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace ddl {

// Each epoch's order is made once, by the first thread that needs it, and dropped when no thread uses it any more.
class EpochOrders {
 public:
    using Order = std::shared_ptr<const std::vector<std::uint32_t>>;

    EpochOrders(std::int64_t records, std::uint64_t seed) : records_{records}, seed_{seed} {}

    Order of(std::int64_t epoch)
    {
        const std::lock_guard lock{mutex_};
        if (epoch == epoch_)
            if (Order order = newest_.lock()) return order;
        std::vector<std::uint32_t> order(static_cast<std::size_t>(records_));
        std::iota(order.begin(), order.end(), 0U);
        base::Random random = base::random_stream(seed_, static_cast<std::uint64_t>(epoch));
        base::shuffle(random, std::span{order});
        auto made = std::make_shared<const std::vector<std::uint32_t>>(std::move(order));
        if (epoch >= epoch_) {
            newest_ = made;
            epoch_ = epoch;
        }
        return made;
    }

 private:
    std::int64_t records_;
    std::uint64_t seed_;
    std::mutex mutex_;
    std::int64_t epoch_ = -1;
    std::weak_ptr<const std::vector<std::uint32_t>> newest_;
};

Sampler::Sampler(std::int64_t records, const Sampling& sampling) : sampling_{sampling}
{
    if (sampling.batch < 1) base::fail_usage("a batch of ", sampling.batch, " samples; at least 1 is needed");
    if (sampling.ranks < 1 || sampling.rank < 0 || sampling.rank >= sampling.ranks)
        base::fail_usage("rank ", sampling.rank, " of ", sampling.ranks, " ranks does not exist");
    if (records > UINT32_MAX) base::fail_usage("a data set of ", records, " samples; at most ", UINT32_MAX);
    steps_per_epoch_ = records / sampling.ranks / sampling.batch;
    if (steps_per_epoch_ == 0)
        base::fail_usage("the data set's ", records, " samples do not fill one step of ", sampling.ranks,
                         " ranks with batches of ", sampling.batch);
    if (sampling.shuffle) orders_ = std::make_shared<EpochOrders>(records, sampling.seed);
}

std::vector<std::int64_t> Sampler::batch(std::int64_t step)
{
    step += sampling_.first_step;
    const std::int64_t global = step % steps_per_epoch_ * sampling_.ranks + sampling_.rank;
    const std::int64_t first = global * sampling_.batch;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(sampling_.batch));
    if (!sampling_.shuffle) {
        std::iota(numbers.begin(), numbers.end(), first);
        return numbers;
    }
    if (const std::int64_t epoch = step / steps_per_epoch_; epoch != epoch_) {
        order_.reset();
        order_ = orders_->of(epoch);
        epoch_ = epoch;
    }
    const auto begin = order_->begin() + first;
    std::copy(begin, begin + sampling_.batch, numbers.begin());
    return numbers;
}

}  // namespace ddl
