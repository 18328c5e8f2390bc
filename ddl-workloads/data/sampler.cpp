#include "ddl-workloads/data/sampler.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <numeric>

namespace ddl {

Sampler::Sampler(std::int64_t records, const Sampling& sampling)
    : sampling_{sampling}, order_(static_cast<std::size_t>(records))
{
    if (sampling.batch < 1) base::fail_usage("a batch of ", sampling.batch, " samples; at least 1 is needed");
    if (sampling.ranks < 1 || sampling.rank < 0 || sampling.rank >= sampling.ranks)
        base::fail_usage("rank ", sampling.rank, " of ", sampling.ranks, " ranks does not exist");
    steps_per_epoch_ = records / sampling.ranks / sampling.batch;
    if (steps_per_epoch_ == 0)
        base::fail_usage("the data set's ", records, " samples do not fill one step of ", sampling.ranks,
                         " ranks with batches of ", sampling.batch);
}

std::vector<std::int64_t> Sampler::batch(std::int64_t step)
{
    step += sampling_.first_step;
    shuffle_for(step / steps_per_epoch_);
    const std::int64_t global = step % steps_per_epoch_ * sampling_.ranks + sampling_.rank;
    const auto first = order_.begin() + global * sampling_.batch;
    return {first, first + sampling_.batch};
}

void Sampler::shuffle_for(std::int64_t epoch)
{
    if (epoch == epoch_) return;
    epoch_ = epoch;
    std::iota(order_.begin(), order_.end(), 0);
    if (!sampling_.shuffle) return;
    base::Random random = base::random_stream(sampling_.seed, static_cast<std::uint64_t>(epoch));
    base::shuffle(random, std::span{order_});
}

}  // namespace ddl
