// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_pace.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

constexpr std::int64_t compute_ns = 10'000'000;

// Percent of the time of `steps` steps that checkpoints take.
double share_of(ddl::CheckpointPace& pace, int steps, std::int64_t stall_ns)
{
    std::int64_t stalls = 0;
    for (int step = 0; step < steps; ++step) {
        const std::int64_t stall = pace.is_due() ? stall_ns : 0;
        pace.add(compute_ns + stall, stall);
        stalls += stall;
    }
    return 100.0 * static_cast<double>(stalls) / static_cast<double>(steps * compute_ns + stalls);
}

}  // namespace

TEST_CASE("checkpoints take 3 % of the time, also after their stall doubled half-way")
{
    for (const std::int64_t stall_ns : {500'000, 1'000'000, 3'000'000}) {
        INFO("stall ", stall_ns);
        ddl::CheckpointPace pace{0.03};
        const double before = share_of(pace, 250, stall_ns);
        const double after = share_of(pace, 250, 2 * stall_ns);
        CHECK((before + after) / 2.0 > 2.5);
        CHECK((before + after) / 2.0 < 3.5);
    }
}

TEST_CASE("checkpoints take 3 % of the time, also where the disk holds up some of them")
{
    for (const int every : {2, 3, 5}) {
        INFO("one of ", every);
        ddl::CheckpointPace pace{0.03};
        std::int64_t taken = 0;
        int written = 0;
        for (int step = 0; step < 500; ++step) {
            const std::int64_t stall = !pace.is_due() ? 0 : ++written % every == 0 ? 8'000'000 : 1'000'000;
            pace.add(compute_ns + stall, stall);
            taken += stall;
        }
        const double share = 100.0 * static_cast<double>(taken) / static_cast<double>(500 * compute_ns + taken);
        CHECK(share > 2.5);
        CHECK(share < 3.5);
    }
}

TEST_CASE("checkpoints that were cheap do not follow each other once they are not")
{
    ddl::CheckpointPace pace{0.03};
    CHECK(share_of(pace, 1000, 100'000) < 1.1);  // one checkpoint in each step
    CHECK(share_of(pace, 1000, 3'000'000) < 3.1);
}

TEST_CASE("the first checkpoint waits for ten steps, and a long stall is made up for before the next checkpoint")
{
    ddl::CheckpointPace pace{0.05};
    for (int step = 0; step < 9; ++step) pace.add(100, 0);
    CHECK_FALSE(pace.is_due());
    pace.add(100, 0);
    CHECK(pace.is_due());
    pace.add(200, 100);  // 5 % of 1,200 are 60: 40 less than it took
    pace.add(2700, 0);
    CHECK_FALSE(pace.is_due());
    pace.add(100, 0);  // 5 % of 4,000 are 200
    CHECK(pace.is_due());
}
