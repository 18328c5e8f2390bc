// SPDX-License-Identifier: Apache-2.0
// The sampler: which rank reads which record in which step.
#include "base/error.hpp"
#include "ddl-workloads/data/loading/sampler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace {

using Numbers = std::vector<std::int64_t>;

// Samples that all ranks read in one epoch, ordered by step and rank.
Numbers epoch_of(std::int64_t epoch, std::int64_t records, ddl::Sampling sampling)
{
    Numbers read;
    const std::int64_t steps = ddl::Sampler{records, sampling}.steps_per_epoch();
    for (std::int64_t step = epoch * steps; step < (epoch + 1) * steps; ++step)
        for (sampling.rank = 0; sampling.rank < sampling.ranks; ++sampling.rank) {
            const Numbers batch = ddl::Sampler{records, sampling}.batch(step);
            CHECK(std::ssize(batch) == sampling.batch);
            read.insert(read.end(), batch.begin(), batch.end());
        }
    return read;
}

Numbers sorted(Numbers numbers)
{
    std::ranges::sort(numbers);
    return numbers;
}

Numbers up_to(std::int64_t count)
{
    Numbers numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

}  // namespace

TEST_CASE("an epoch reads every sample once over all ranks")
{
    for (const std::int64_t epoch : {0, 1, 7})
        CHECK(sorted(epoch_of(epoch, 24, {.batch = 4, .ranks = 3, .seed = 5})) == up_to(24));
}

TEST_CASE("the incomplete last global batch is left out on all ranks")
{
    CHECK(ddl::Sampler{30, {.batch = 4, .ranks = 3}}.steps_per_epoch() == 2);
    const Numbers read = sorted(epoch_of(0, 30, {.batch = 4, .ranks = 3}));
    CHECK(read.size() == 24);
    CHECK(std::ranges::adjacent_find(read) == read.end());
    CHECK(read != sorted(epoch_of(1, 30, {.batch = 4, .ranks = 3})));
}

TEST_CASE("each epoch has an order of its own and each seed too")
{
    const ddl::Sampling one{.batch = 4, .ranks = 2, .seed = 1};
    const ddl::Sampling two{.batch = 4, .ranks = 2, .seed = 2};
    const ddl::Sampling high{.batch = 4, .ranks = 2, .seed = 1 + (1ULL << 32U)};
    CHECK(epoch_of(0, 64, one) == epoch_of(0, 64, one));
    CHECK(epoch_of(0, 64, one) != epoch_of(1, 64, one));
    CHECK(epoch_of(0, 64, one) != epoch_of(0, 64, two));
    CHECK(epoch_of(0, 64, one) != epoch_of(0, 64, high));
}

TEST_CASE("without shuffling every epoch goes in file order")
{
    CHECK(epoch_of(3, 12, {.batch = 2, .ranks = 2, .shuffle = false}) == up_to(12));
}

TEST_CASE("steps may be asked for in any order")
{
    const ddl::Sampling sampling{.batch = 2, .ranks = 1};
    ddl::Sampler sampler{6, sampling};
    const Numbers late = sampler.batch(7);
    const Numbers early = sampler.batch(1);
    CHECK(early == ddl::Sampler{6, sampling}.batch(1));
    CHECK(late == ddl::Sampler{6, sampling}.batch(7));
}

TEST_CASE("a sampling that resumes gives what an uninterrupted one gives from there")
{
    ddl::Sampler whole{20, {.batch = 2, .ranks = 2, .seed = 3}};
    ddl::Sampler rest{20, {.batch = 2, .ranks = 2, .seed = 3, .first_step = 7}};
    for (std::int64_t step = 0; step < 12; ++step) CHECK(rest.batch(step) == whole.batch(7 + step));
}

TEST_CASE("samplings that make no sense are refused")
{
    CHECK_THROWS_AS(ddl::Sampler(7, {.batch = 4, .ranks = 2}), base::UsageError);
    CHECK_THROWS_AS(ddl::Sampler(7, {.batch = 0}), base::UsageError);
    CHECK_THROWS_AS(ddl::Sampler(7, {.batch = 1, .rank = 2, .ranks = 2}), base::UsageError);
    CHECK_THROWS_AS(ddl::Sampler(7, {.batch = 1, .ranks = 0}), base::UsageError);
}
