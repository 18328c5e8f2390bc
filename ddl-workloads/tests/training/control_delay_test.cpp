// SPDX-License-Identifier: Apache-2.0
// Delays requested through the control page, and injected delays.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>

using testing::ask;
using testing::small;

namespace {

// For each rank in DIR: number of steps that spent time in the phase.
std::map<int, std::int64_t> steps_with(const std::filesystem::path& out, const std::string& phase)
{
    const base::CsvTable rows{out / "train/steps.csv"};
    std::map<int, std::int64_t> steps{{0, 0}, {1, 0}};
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.get<std::int64_t>(row, phase + "_ns") > 0) ++steps[rows.get<int>(row, "rank")];
    return steps;
}

// Shortest settling time among rank 0's controlled steps.
std::int64_t shortest_settle_ns(const std::filesystem::path& out)
{
    const base::CsvTable rows{out / "train/steps.csv"};
    std::int64_t shortest = INT64_MAX;
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (const auto settle = rows.get<std::int64_t>(row, "control_settle_ns");
            settle > 0 && rows.get<int>(row, "rank") == 0)
            shortest = std::min(shortest, settle);
    return shortest;
}

}  // namespace

TEST_CASE("a delay is made by rank 0 in every step but those before the first news, between barriers of all")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::delay);
    const testing::TrainRun run =
        testing::train(2, scratch / "run", small({"--steps", "6", "--control-delay", "3ms", "--trace", "off"}));
    REQUIRE(run.status == 0);
    CHECK(control.page().acknowledged == 6);
    CHECK(control.page().controlled == 4);  // step 0 has no times yet, step 1 requests, step 2 is the first delayed
    CHECK(control.page().step == 5);
    CHECK(steps_with(scratch / "run", "control_delay") == std::map<int, std::int64_t>{{0, 4}, {1, 0}});
    CHECK(steps_with(scratch / "run", "control_settle") == std::map<int, std::int64_t>{{0, 4}, {1, 4}});
    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (const auto delay = rows.get<std::int64_t>(row, "control_delay_ns"); delay > 0) CHECK(delay >= 3'000'000);
    CHECK(shortest_settle_ns(scratch / "run") >= base::control_settle_ns);
}

TEST_CASE("a sham has the barriers of a delay and no delay")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::sham);
    REQUIRE(
        testing::train(2, scratch / "run", small({"--steps", "6", "--control-delay", "1h", "--trace", "off"})).status ==
        0);
    CHECK(control.page().controlled == 4);
    CHECK(steps_with(scratch / "run", "control_delay") == std::map<int, std::int64_t>{{0, 0}, {1, 0}});
    CHECK(steps_with(scratch / "run", "control_settle") == std::map<int, std::int64_t>{{0, 4}, {1, 4}});
    CHECK(shortest_settle_ns(scratch / "run") >= base::control_settle_ns);
}

TEST_CASE("a step that is not asked to, or would end after the slot, has nothing of the control")
{
    for (const bool asked_too_late : {false, true}) {
        const testing::Scratch scratch;
        base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
        if (asked_too_late) ask(control.page(), base::ControlRequest::delay, 1);
        const testing::TrainRun run =
            testing::train_alone(scratch / "run", small({"--steps", "5", "--control-delay", "1ms", "--trace", "off"}));
        REQUIRE(run.status == 0);
        CHECK(control.page().acknowledged == 5);
        CHECK(control.page().controlled == 0);
        CHECK(steps_with(scratch / "run", "control_settle")[0] == 0);
    }
}

TEST_CASE("a training's processes stand on the control page while it runs")
{
    const testing::Scratch scratch;
    testing::RunningTraining training{2, scratch / "run", small({"--steps", "100000", "--trace", "off"})};
    training.wait_for_steps();
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    const std::vector<pid_t> ranks = training.ranks();
    CHECK(base::training_processes(control.page()) == std::set<pid_t>{ranks.begin(), ranks.end()});
}

TEST_CASE("a training without control does not acknowledge")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::delay);
    REQUIRE(testing::train_alone(scratch / "run", small({"--steps", "3", "--trace", "off"})).status == 0);
    CHECK(control.page().acknowledged == 0);
    CHECK(control.page().step == 2);
}

TEST_CASE("a delay falls on every Nth step of its phase, or on the first of every N")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained_alone(
        scratch / "run", small({"--steps", "9", "--delay", "0:update:5ms:every=4", "--delay", "0:load:3ms:busy",
                                "--delay", "0:forward:5ms:every=4:for=3", "--trace", "off"}));
    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        CHECK((rows.get<std::int64_t>(row, "update_ns") >= 5'000'000) == (row % 4 == 0));
        if (row % 4 < 3) CHECK(rows.get<std::int64_t>(row, "forward_ns") >= 5'000'000);
        CHECK(rows.get<std::int64_t>(row, "load_ns") >= 3'000'000);
    }
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    CHECK(record["result"]["each_rank"][0]["injected_delays"]["count"] == 3 + 9 + 7);
    CHECK(testing::train_alone(scratch / "none", small({"--delay", "2:load:1ms"})).status == 2);
}
