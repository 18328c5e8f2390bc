// SPDX-License-Identifier: Apache-2.0
// Noise under a limit of the operating system: how limits are written, and control groups that enforce them and are
// removed afterwards.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/system/cgroups.hpp"
#include "noisegen/resources/limit_group.hpp"
#include "noisegen/schedule/parser.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace testing;

std::string refused(const std::string& schedule)
{
    try {
        noisegen::parse_schedule(schedule);
        return "";
    } catch (const base::UsageError& error) {
        return error.what();
    }
}

bool says(const std::string& text, const std::string& words)
{
    return text.find(words) != std::string::npos;
}

// The record of a run on one CPU; none if this user or machine cannot set the limit.
std::optional<nlohmann::json> limited_run(const Scratch& scratch, const std::string& schedule,
                                          const std::string& duration = "2s")
{
    const Outcome outcome = run({"env", without_leak_check, program, "--schedule", schedule, "--cpus", cpu(),
                                 "--duration", duration, "--out", scratch / "run"});
    if (outcome.status == 77) {
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
        skip(outcome.err);
        return std::nullopt;
    }
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    return record(part(scratch));
}

const nlohmann::json& level_of(const nlohmann::json& noise, const std::string& level)
{
    const nlohmann::json& all = noise.at("factor_levels");
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.at("level") == level; });
}

// Number of limit groups that are left in this machine's cgroup mounts.
std::size_t groups_left()
{
    std::size_t count = 0;
    for (const char* controller : {"blkio", "cpu", "cpuset", "io"})
        for (const base::CgroupDirectory& own : base::cgroup_directories(controller)) {
            std::error_code none;
            for (const auto& group : fs::directory_iterator{own.path, none})
                count += group.path().filename().string().starts_with("crosstalk-limit-") ? 1 : 0;
        }
    return count;
}

}  // namespace

TEST_CASE("a limit is a level like any other")
{
    const noisegen::Schedule schedule =
        noisegen::parse_schedule("rotation(io.write[limit=none|io.max:50MiB/s|cpu.max:20%]; slot=1s)");
    REQUIRE(schedule.levels.size() == 3);
    CHECK(schedule.stressors.size() == 1);  // one set of instances for all levels
    CHECK(!schedule.levels[0].intensity.limit);
    CHECK(schedule.levels[1].level == "limit=io.max:50MiB/s");
    CHECK(schedule.levels[1].intensity.limit->rate.per_second == 52428800.0);
    CHECK(schedule.levels[2].intensity.limit->number == 20.0);
    CHECK(noisegen::parse_schedule("cpu.spin[sched=idle] 1s").levels[0].intensity.sched == "idle");
}

TEST_CASE("limits that make no sense are refused")
{
    CHECK(says(refused("io.write[limit=io.mx:50MiB/s] 1s"), "did you mean io.max?"));
    CHECK(says(refused("io.write[limit=io.max] 1s"), "after a colon"));
    CHECK(says(refused("io.write[limit=io.max:fast] 1s"), "is not a rate"));
    CHECK(says(refused("io.write[limit=cpu.weight:0] 1s"), "is not in 1 to"));
    CHECK(says(refused("cpu.spin[limit=cpuset:0-1] 1s"), "for job.run only"));
    CHECK(says(refused("cpu.spin[sched=fifo] 1s"), "other, batch or idle"));
    CHECK(says(refused("factorial(cpu.spin[limit=cpu.weight:1], io.write)"), "use rotation"));
}

TEST_CASE("writes under io.max keep to it and leave no group behind")
{
    const Scratch scratch;
    constexpr double limit = 20.0 * 1048576.0;
    const auto noise =
        limited_run(scratch, "rotation(io.write[block=256KiB,depth=2,directory=" + scratch.path().string() +
                                 ",limit=none|io.max:20MiB/s]; slot=500ms)");
    if (!noise) return;
    const nlohmann::json& limited = level_of(*noise, "limit=io.max:20MiB/s");
    CHECK(limited.at("limit") == "io.max:20MiB/s");
    CHECK(limited.at("limited_by").get<std::string>().starts_with("cgroup v"));
    CHECK(limited.at("bytes_per_s").get<double>() > 0.0);
    CHECK(limited.at("bytes_per_s").get<double>() < 1.5 * limit);
    CHECK(level_of(*noise, "limit=none").at("limit") == "none");
    CHECK(groups_left() == 0);
}

TEST_CASE("a job under cpu.max has so much CPU time and without it more")
{
    const Scratch scratch;
    const fs::path job = scratch / "job.sh";
    base::write_whole(job, "#!/bin/sh\nwhile :; do echo done >> $CROSSTALK_HARVEST; done\n");
    ::chmod(job.c_str(), 0700);
    const auto noise =
        limited_run(scratch, "rotation(job.run[file=" + job.string() + ",limit=none|cpu.max:10%]; slot=500ms)", "3s");
    if (!noise) return;
    const double limited = level_of(*noise, "limit=cpu.max:10%").at("operations_per_s");
    CHECK(limited > 0.0);
    CHECK(limited < 0.5 * level_of(*noise, "limit=none").at("operations_per_s").get<double>());
    CHECK(groups_left() == 0);
}

TEST_CASE("a class of scheduling lasts as long as its slot")
{
    const Scratch scratch;
    const auto noise = limited_run(scratch, "rotation(cpu.spin[sched=other|idle]; slot=200ms)");
    if (!noise) return;
    CHECK(level_of(*noise, "sched=idle").at("sched") == "idle");
    CHECK(level_of(*noise, "sched=idle").at("operations_per_s").get<double>() > 0.0);
}
