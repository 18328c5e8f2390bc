// SPDX-License-Identifier: Apache-2.0
// A training that does not start, stalls or ends is reported once.
#include "noisegen/execution/training_watch.hpp"

#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

using base::ControlFile;
using noisegen::TrainingWatch;

namespace {

constexpr std::int64_t second = 1'000'000'000;

// Messages from `from` to `to`, polled every half a second.
std::string said(TrainingWatch& watch, std::int64_t from, std::int64_t to)
{
    std::string all;
    for (std::int64_t now = from * second; now <= to * second; now += second / 2)
        if (const auto news = watch.news(now)) all += std::to_string(now / second) + ": " + *news + "\n";
    return all;
}

}  // namespace

TEST_CASE("a training that ends is reported once, and so is one that continues")
{
    const testing::Scratch scratch;
    ControlFile training = ControlFile::open(scratch.path(), "node1");
    TrainingWatch watch{scratch.path(), "node1", false, 100 * second};
    for (std::int64_t now = 100; now < 130; ++now) {
        training.page().updated_ns = now * second + second / 4;
        CHECK(said(watch, now, now) == "");
    }
    CHECK(said(watch, 130, 170).starts_with("140: the training has made no progress for 10 s: it hangs or has ended"));
    training.page().updated_ns = 171 * second;
    CHECK(said(watch, 171, 175) == "171: the training continues\n");
}

TEST_CASE("a training with slow steps is not taken for one that has ended")
{
    const testing::Scratch scratch;
    ControlFile training = ControlFile::open(scratch.path(), "node1");
    TrainingWatch watch{scratch.path(), "node1", false, 100 * second};
    for (std::int64_t now = 102; now < 140; now += 5) {
        training.page().updated_ns = now * second;
        CHECK(said(watch, now, now + 4) == "");
    }
    CHECK(said(watch, 140, 170) == "");  // the last sign of life was at 137
}

TEST_CASE("noise that needs a training says that there is none, and other noise nothing")
{
    const testing::Scratch scratch;
    TrainingWatch indifferent{scratch.path(), "node1", false, 100 * second};
    CHECK(said(indifferent, 100, 200) == "");
    CHECK_FALSE(std::filesystem::exists(scratch / "control"));
    TrainingWatch needs{scratch.path(), "node1", true, 100 * second};
    const std::string reported = said(needs, 100, 200);
    CHECK(reported.starts_with("111: no training uses "));
    CHECK(reported.find("control/node1") != std::string::npos);
    CHECK(std::count(reported.begin(), reported.end(), '\n') == 1);
}

TEST_CASE("an earlier training's control file is none of this one's")
{
    const testing::Scratch scratch;
    ControlFile::open(scratch.path(), "node1").page().updated_ns = 20 * second;
    TrainingWatch watch{scratch.path(), "node1", false, 100 * second};
    CHECK(said(watch, 100, 200).find("no training uses") != std::string::npos);
}
