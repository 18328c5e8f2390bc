// SPDX-License-Identifier: Apache-2.0
// io.fsync: what it writes, when it syncs, and that it begins no sync that would outlast its turn.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "testing/made_stressor.hpp"
#include "testing/noise_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

using testing::Made;
using testing::Scratch;

TEST_CASE("io.fsync syncs after as many bytes as were asked for, over and over")
{
    const Scratch scratch;
    const Made made{"io.fsync", {{"directory", scratch.path()}, {"dirty", "384KiB"}}};
    CHECK(made.needs.disk.count == 384 << 10);
    made.stressor->begin({});
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint64_t> operations;
    for (int step = 0; step < 6; ++step) {
        const noisegen::Work work = made.stressor->step();
        bytes.push_back(work.bytes);
        operations.push_back(work.operations);
    }
    // Steps write 256 KiB, then the rest, and then sync.
    CHECK(bytes == std::vector<std::uint64_t>{256 << 10, 128 << 10, 0, 256 << 10, 128 << 10, 0});
    CHECK(operations == std::vector<std::uint64_t>{0, 0, 1, 0, 0, 1});
    CHECK(made.stressor->note().starts_with("fsync after 384KiB, the longest "));
    CHECK(testing::leaves_nothing(scratch.path()));
}

TEST_CASE("io.fsync rests rather than begin a sync that its turn has no time for")
{
    const Scratch scratch;
    const Made made{"io.fsync", {{"directory", scratch.path()}, {"dirty", "4KiB"}}};
    const std::int64_t deadline = base::now_ns() + 1'000'000'000;
    made.stressor->begin({.deadline_ns = deadline});
    made.stressor->step();
    CHECK(made.stressor->step().operations == 1);  // now it knows how long a sync takes
    made.stressor->begin({.deadline_ns = base::now_ns()});
    made.stressor->step();
    const noisegen::Work none = made.stressor->step();
    CHECK(none.operations == 0);
    CHECK(none.rest_until_ns > 0);
}

TEST_CASE("io.fsync refuses what it cannot write")
{
    for (const std::string dirty : {"0", "5KiB", "2GiB", "x"}) {
        CAPTURE(dirty);
        CHECK_THROWS_AS(Made("io.fsync", {{"directory", "/tmp"}, {"dirty", dirty}}), base::UsageError);
    }
}
