// SPDX-License-Identifier: Apache-2.0
// Skew of slot begins between the processes of a job, from records with known times.
#include "noisegen/execution/skew.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using std::chrono::milliseconds;
using testing::Scratch;

namespace {

struct Process {
    std::string clock = "boot/1/CLOCK_MONOTONIC";
    std::int64_t realtime_offset = 0;
    std::vector<std::int64_t> begins;
    bool late = false;
    nlohmann::json error = nullptr;
};

void write(const std::filesystem::path& part, const Process& process)
{
    std::filesystem::create_directories(part);
    base::CsvWriter csv{part / "noise.csv", {"slot", "begin_ns"}};
    for (std::size_t i = 0; i < process.begins.size(); ++i) csv.row(i, process.begins[i]);
    nlohmann::json json;
    json["clock_identity"] = process.clock;
    json["realtime_minus_monotonic_ns"] = process.realtime_offset;
    json["realtime_error_ns"] = process.error;
    json["joined_late"] = process.late;
    json["exit"]["code"] = 0;
    base::write_whole(part / "noise.json", json.dump());
}

}  // namespace

TEST_CASE("processes on one clock are compared on it")
{
    const Scratch scratch;
    write(scratch / "a.0", {.realtime_offset = 5, .begins = {1000, 2000, 3000}});
    write(scratch / "a.1", {.realtime_offset = 999, .begins = {1010, 2500, 3001}});
    const auto skew = noisegen::measure_skew(scratch.path(), 2, {});
    REQUIRE(skew);
    CHECK(skew->processes == 2);
    CHECK(skew->slots == 3);
    CHECK(skew->median_ns == 10);
    CHECK(skew->worst_ns == 500);
    CHECK(skew->one_clock);
}

TEST_CASE("processes on two clocks are compared by real time, with the error of both")
{
    const Scratch scratch;
    write(scratch / "a.0", {.realtime_offset = 100'000, .begins = {1000}, .error = 300});
    write(scratch / "b.1", {.clock = "other", .realtime_offset = 500'000, .begins = {-398'000}, .error = 200});
    const auto skew = noisegen::measure_skew(scratch.path(), 2, {});
    REQUIRE(skew);
    CHECK(skew->worst_ns == 1000);
    CHECK(!skew->one_clock);
    CHECK(skew->clock_error_known);
    CHECK(skew->clock_error_ns == 600);
    write(scratch / "c.2", {.clock = "third", .realtime_offset = 0, .begins = {101'000}});
    CHECK(!noisegen::measure_skew(scratch.path(), 3, {})->clock_error_known);
}

TEST_CASE("a slot that a process joined late does not count")
{
    const Scratch scratch;
    write(scratch / "a.0", {.begins = {0, 1000, 2000}});
    std::filesystem::create_directories(scratch / "a.1");
    write(scratch / "a.1", {.begins = {700, 1003, 2004}, .late = true});
    const auto skew = noisegen::measure_skew(scratch.path(), 2, {});
    REQUIRE(skew);
    CHECK(skew->slots == 2);
    CHECK(skew->worst_ns == 4);
}

TEST_CASE("without all processes there is no skew")
{
    const Scratch scratch;
    write(scratch / "a.0", {.begins = {0, 1000}});
    CHECK(!noisegen::measure_skew(scratch.path(), 2, milliseconds{30}));
    std::filesystem::create_directories(scratch / "a.1");
    base::write_whole(scratch / "a.1" / "noise.json", "{\"host\"");
    CHECK_THROWS_AS(noisegen::measure_skew(scratch.path(), 2, milliseconds{30}), base::Error);
}
