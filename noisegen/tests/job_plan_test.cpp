// SPDX-License-Identifier: Apache-2.0
// Agreement of a run's noise processes through a file.
#include "noisegen/schedule/job_plan.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/saturating.hpp"
#include "base/system/clock.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace std::chrono_literals;
using noisegen::agree;
using noisegen::JobPlan;

namespace {

JobPlan proposal()
{
    return {"M1S1", 1, 60s, 0s, base::now_ns() + base::realtime_offset_ns()};
}

}  // namespace

TEST_CASE("who comes second takes the first one's start")
{
    const testing::Scratch scratch;
    const JobPlan first = agree(scratch / "plan.json", proposal());
    JobPlan later = proposal();
    later.start_realtime_ns += 5'000'000'000;
    CHECK(agree(scratch / "plan.json", later).start_realtime_ns == first.start_realtime_ns);
    CHECK(std::distance(std::filesystem::directory_iterator{scratch.path()}, {}) == 1);
}

TEST_CASE("a measured slot length is the first one's for all")
{
    const testing::Scratch scratch;
    JobPlan mine = proposal();
    mine.slot = 700ms;
    agree(scratch / "plan.json", mine);
    mine.slot = 900ms;
    CHECK(agree(scratch / "plan.json", mine).slot == 700ms);
}

TEST_CASE("a slot length of the schedule's own may be short, and is that of all processes")
{
    const testing::Scratch scratch;
    JobPlan mine = proposal();
    mine.slot = 50ms;
    mine.measured = false;
    agree(scratch / "plan.json", mine);
    CHECK(agree(scratch / "plan.json", mine).slot == 50ms);
    CHECK(base::read_json(scratch / "plan.json").at("slot_ns") == 50'000'000);
    mine.slot = 100ms;
    CHECK_THROWS_WITH_AS(agree(scratch / "plan.json", mine), doctest::Contains("an invalid slot length"), base::Error);
}

TEST_CASE("another schedule or seed or duration in the same run is refused")
{
    const testing::Scratch scratch;
    agree(scratch / "plan.json", proposal());
    JobPlan other = proposal();
    other.schedule = "M2S2";
    CHECK_THROWS_WITH_AS(agree(scratch / "plan.json", other), doctest::Contains("the schedule M1S1"), base::UsageError);
    other = proposal();
    other.seed = 2;
    CHECK_THROWS_WITH_AS(agree(scratch / "plan.json", other), doctest::Contains("the seed 1"), base::UsageError);
    other = proposal();
    other.duration = 1s;
    CHECK_THROWS_WITH_AS(agree(scratch / "plan.json", other), doctest::Contains("the duration"), base::UsageError);
}

TEST_CASE("a plan that is over is refused")
{
    const testing::Scratch scratch;
    JobPlan old = proposal();
    old.start_realtime_ns -= 61'000'000'000;
    agree(scratch / "plan.json", old);
    CHECK_THROWS_WITH_AS(agree(scratch / "plan.json", proposal()), doctest::Contains("already ended"),
                         base::UsageError);
}

TEST_CASE("a plan that no process of this job can have made is refused")
{
    const auto refused = [](std::int64_t ahead_ns, base::Nanoseconds slot, const char* words) {
        const testing::Scratch scratch;
        JobPlan strange = proposal();
        strange.start_realtime_ns = base::saturated_sum(strange.start_realtime_ns, ahead_ns);
        strange.slot = slot;
        agree(scratch / "plan.json", strange);
        JobPlan mine = proposal();
        mine.slot = 1s;
        CHECK_THROWS_WITH_AS(agree(scratch / "plan.json", mine), doctest::Contains(words), base::Error);
    };
    refused(3'600'000'000'000, 1s, "starts in 3");
    refused(INT64_MAX, 1s, "clocks of the hosts differ");
    refused(0, base::Nanoseconds{1}, "an invalid slot length");
    refused(0, 24h, "an invalid slot length");
    refused(0, base::Nanoseconds{INT64_MAX}, "an invalid slot length");
    refused(0, 0s, "an invalid slot length");
}

TEST_CASE("a broken plan gives a message")
{
    for (const char* text : {"", "{", "[]", "{\"schedule\": 3}", "\xff\xfe"}) {
        const testing::Scratch scratch;
        std::ofstream{scratch / "plan.json"} << text;
        CHECK_THROWS_WITH_AS(agree(scratch / "plan.json", proposal()), doctest::Contains("not a plan"), base::Error);
    }
}
