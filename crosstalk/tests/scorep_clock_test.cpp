// SPDX-License-Identifier: Apache-2.0
// Offset of an archive's clock from CLOCK_MONOTONIC. The job runs from 100 s to 130 s of CLOCK_MONOTONIC, on a machine
// whose CLOCK_REALTIME is 1,700,000,000 s ahead.
#include "base/error.hpp"
#include "crosstalk/run/sources/scorep_archive.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using Time = std::chrono::nanoseconds;

constexpr Time ahead = 1'700'000'000s;

// The clock offset for an archive with this start and length and, optionally, its start by CLOCK_REALTIME.
Time clock_ahead(Time begin, Time length, std::optional<Time> realtime = {})
{
    crosstalk::ArchiveTimes archive{.begin_ns = begin.count(), .length_ns = length.count(), .realtime_ns = {}};
    if (realtime) archive.realtime_ns = realtime->count();
    return Time{crosstalk::clock_ahead_ns(
        archive, {.begin_ns = Time{100s}.count(), .end_ns = Time{130s}.count(), .realtime_ahead_ns = ahead.count()})};
}

}  // namespace

TEST_CASE("times within the time of the job are of CLOCK_MONOTONIC")
{
    CHECK(clock_ahead(101s, 28s) == 0s);
}

TEST_CASE("times of CLOCK_REALTIME are far ahead, and are known by that")
{
    CHECK(clock_ahead(ahead + 101s, 28s) == ahead);
    CHECK(clock_ahead(ahead + 101s, 28s, ahead + 101s + 2us) == ahead);  // read a moment later
}

TEST_CASE("another clock is tied to CLOCK_REALTIME by what the archive says of its beginning")
{
    CHECK(clock_ahead(101s + 40ms, 28s, ahead + 101s) == 40ms);  // CLOCK_MONOTONIC_RAW looks like CLOCK_MONOTONIC
    CHECK(clock_ahead(9'000s, 28s, ahead + 101s) == 8'899s);     // ticks of a processor that started long ago
}

TEST_CASE("times that are within the time of the job on no known clock are refused")
{
    const auto refused = [](Time begin, Time length, std::optional<Time> realtime = {}) {
        CHECK_THROWS_WITH_AS(clock_ahead(begin, length, realtime), doctest::Contains("SCOREP_TIMER"), base::Error);
    };
    refused(9'000s, 28s);
    refused(101s, 31s);               // longer than the job
    refused(101s, 28s, ahead + 50s);  // an archive of an earlier run
    refused(ahead + 98s, 1s);
}
