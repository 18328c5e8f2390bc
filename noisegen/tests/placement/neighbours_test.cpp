// SPDX-License-Identifier: Apache-2.0
// Noise avoids running processes, and notices processes that come later.
#include "base/contract/control_file.hpp"
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/resources/placement.hpp"
#include "testing/child.hpp"
#include "testing/environment.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>

#include <unistd.h>

using testing::program;

namespace {

// Lists the process in the control file's format: PID in the low bits, start time of /proc/PID/stat above.
void name_training(base::ControlFile& control, pid_t pid)
{
    const std::string stat = base::read_whole("/proc/" + std::to_string(pid) + "/stat");
    std::istringstream fields{stat.substr(stat.rfind(')') + 2)};
    std::vector<std::string> words{std::istream_iterator<std::string>{fields}, {}};
    const std::uint64_t start = std::stoull(words.at(19));  // the 22nd field
    control.page().processes[0] = static_cast<std::uint64_t>(pid) | (start << 22U);
}

}  // namespace

TEST_CASE("avoid takes CPU lists and processes")
{
    CHECK(noisegen::parse_avoid({"0"}).cpus == base::CpuSet{0});
    const noisegen::Avoid avoid = noisegen::parse_avoid({"pid:" + std::to_string(::getpid())});
    CHECK(avoid.processes == std::vector<pid_t>{::getpid()});
    CHECK_THROWS_AS(noisegen::parse_avoid({"pid:x"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"pid:999999999"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"0-99999"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"training"}), base::UsageError);
}

TEST_CASE("neighbours are found with their descendants and the CPUs they are bound to")
{
    const std::string cpu = std::to_string(*base::allowed_cpus().rbegin());
    const testing::Child shell{{"sh", "-c", "taskset -c " + cpu + " sleep 60; true"}};
    const noisegen::Avoid avoid{.processes = {shell.pid()}};
    const auto sleeper = [&]() -> std::optional<noisegen::AvoidedProcess> {
        for (const noisegen::AvoidedProcess& process : noisegen::avoided_processes(avoid, base::allowed_cpus()))
            if (process.name == "sleep") return process;
        return {};
    };
    REQUIRE(testing::eventually([&] { return sleeper().has_value(); }));
    const noisegen::AvoidedProcess found = *sleeper();
    CHECK(found.cpus == base::parse_cpus(cpu));
    ::kill(found.pid, SIGTERM);
}

TEST_CASE("of the same Slurm job those are neighbours that are bound to less than was allowed")
{
    const testing::Environment slurm{{{"SLURM_JOB_ID", "test-" + std::to_string(::getpid())}}};
    const int cpu = *base::allowed_cpus().rbegin();
    const testing::Child bound{{"taskset", "-c", std::to_string(cpu), "sleep", "60"}};
    const auto found = [&](const base::CpuSet& allowed) {
        const auto all = noisegen::avoided_processes({}, allowed);
        return std::any_of(all.begin(), all.end(), [&](const noisegen::AvoidedProcess& process) {
            return process.pid == bound.pid() && process.name == "sleep";
        });
    };
    // This process may itself be bound to that CPU by now; its original affinity counts.
    CHECK(testing::eventually([&] { return found({cpu, cpu + 1}); }));
    CHECK(!found({cpu}));
}

TEST_CASE("a dry run shows where noise would be and refuses what could not run")
{
    const std::string cpu = std::to_string(*base::allowed_cpus().rbegin());
    const testing::Outcome shown = testing::run({program, "--schedule", "C1S1", "--cpus", cpu, "--dry-run"});
    CHECK(shown.status == 0);
    CHECK(shown.err.starts_with("noisegen: cpu " + cpu + ": core "));
    CHECK(shown.err.ends_with(", idle\n"));
    CHECK(shown.out.starts_with("slot,block,position,"));
    const testing::Outcome refused =
        testing::run({program, "--schedule", "memory.stream[bytes=900TiB] 1s", "--dry-run"});
    CHECK(refused.status == 2);
    CHECK(refused.out == "");
    CHECK(refused.err.find("--max-memory") != std::string::npos);
}

TEST_CASE("place, scheduling class and memory are on record and in force")
{
    const testing::Scratch scratch;
    const int cpu = *base::allowed_cpus().rbegin();
    testing::Child child{{program, "--schedule", "quiet 100ms", "--cpus", std::to_string(cpu), "--duration", "10min",
                          "--sched", "idle", "--out", scratch / "run"}};
    const auto path = scratch / "run" / "noise" / (base::host_name() + ".0");
    REQUIRE(testing::eventually([&] { return testing::has_rows(path / "noise.csv", 1); }));
    std::size_t idle = 0;
    const std::filesystem::path tasks = "/proc/" + std::to_string(child.pid()) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator{tasks})
        if (::sched_getscheduler(std::stoi(entry.path().filename())) == SCHED_IDLE) ++idle;
    CHECK(idle == 1);
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    const auto record = nlohmann::json::parse(base::read_whole(path / "noise.json"));
    CHECK(record.at("scheduling_class") == "idle");
    CHECK(record.at("memory") == "local");
    REQUIRE(record.at("placement").size() == 1);
    CHECK(record.at("placement").at(0).at("cpu") == cpu);
    CHECK(record.at("placement").at(0).at("avoided") == false);
    for (const char* name : {"core", "socket", "numa_node"}) CHECK(record.at("placement").at(0).at(name) >= 0);
}

TEST_CASE("a process that comes to a noise CPU ends the run if that was asked for")
{
    const base::CpuSet allowed = base::allowed_cpus();
    if (allowed.size() < 2) {
        testing::skip("needs a CPU to come from");
        return;
    }
    const std::string from = std::to_string(*allowed.begin());
    const std::string to = std::to_string(*allowed.rbegin());
    const testing::Child busy{{"taskset", "-c", from, "sleep", "120"}};
    REQUIRE(testing::eventually([&] { return base::affinity_of(busy.pid()).size() == 1; }));
    const testing::Scratch scratch;
    testing::Child child{{program, "--schedule", "quiet 100ms", "--cpus", to, "--smt", "yes", "--duration", "10min",
                          "--avoid", "pid:" + std::to_string(busy.pid()), "--on-overlap", "stop", "--out",
                          scratch / "run"}};
    const auto path = scratch / "run" / "noise" / (base::host_name() + ".0");
    REQUIRE(testing::eventually([&] { return std::filesystem::exists(path / "noise.csv"); }));
    testing::run({"taskset", "-pc", to, std::to_string(busy.pid())});
    CHECK(child.wait() == 3);
    const auto record = nlohmann::json::parse(base::read_whole(path / "noise.json"));
    CHECK(record.at("exit").at("reason") == "overlap");
    CHECK(record.at("overlaps").at(0).at("pid") == busy.pid());
    CHECK(std::filesystem::exists(path / "trace/traces.otf2"));
}

TEST_CASE("a process that comes to a noise CPU later is reported and on record")
{
    if (base::allowed_cpus().size() < 2) return testing::skip("needs a CPU to come from");
    const std::string elsewhere = std::to_string(*base::allowed_cpus().begin());
    const testing::Child busy{{"taskset", "-c", elsewhere, "sleep", "120"}};
    REQUIRE(testing::eventually([&] { return base::affinity_of(busy.pid()).size() == 1; }));
    const testing::Scratch scratch;
    std::vector<std::string> words = testing::long_run(scratch, "quiet 100ms");
    words.insert(words.end(), {"--avoid", "pid:" + std::to_string(busy.pid())});
    testing::Child child{words};
    REQUIRE(testing::eventually([&] { return testing::has_rows(testing::part(scratch) / "noise.csv", 1); }));
    testing::run({"taskset", "-pc", testing::cpu(), std::to_string(busy.pid())});
    const std::string said = "may now run on noise CPUs " + testing::cpu();
    CHECK(testing::eventually([&] { return child.output().find(said) != std::string::npos; }));
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    CHECK(testing::record(testing::part(scratch)).at("overlaps").at(0).at("pid") == busy.pid());
}

TEST_CASE("noise keeps off the CPUs of the training in its control file")
{
    const base::CpuSet allowed = base::allowed_cpus();
    if (allowed.size() < 2) {
        testing::skip("needs a CPU beside the training's");
        return;
    }
    const std::string cpu = std::to_string(*allowed.rbegin());
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    const testing::Child training{{"taskset", "-c", cpu, "sleep", "60"}};
    REQUIRE(testing::eventually([&] { return base::affinity_of(training.pid()).size() == 1; }));
    name_training(control, training.pid());
    const auto noise = [&](std::vector<std::string> words) {
        for (const char* word : {"--schedule", "quiet 100ms", "--duration", "100ms", "--smt", "yes", "--out"})
            words.emplace_back(word);
        words.push_back(scratch / "run");
        return testing::run_noisegen(words);
    };
    const testing::Outcome refused = noise({"--cpus", cpu});
    CHECK(refused.status == 2);
    CHECK(refused.err == "noisegen: CPU " + cpu + " is used by sleep (" + std::to_string(training.pid()) +
                             "); choose other --cpus, or --share\n");
    CHECK(noise({"--cpus", cpu, "--dry-run"}).status == 2);
    CHECK(noise({"--cpus", cpu, "--share", "--dry-run"}).status == 0);
    REQUIRE(noise({}).status == 0);
    const nlohmann::json record = testing::record(testing::part(scratch));
    CHECK(record.at("avoided_cpus") == cpu);
    for (const nlohmann::json& place : record.at("placement")) CHECK(place.at("cpu") != std::stoi(cpu));
}

TEST_CASE("a training that is bound to no CPU is told of")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    const testing::Child training{{"sleep", "60"}};
    name_training(control, training.pid());
    const testing::Outcome outcome = testing::run_noisegen(
        {"--schedule", "quiet 100ms", "--duration", "100ms", "--cpus", testing::cpu(), "--out", scratch / "run"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("the training (process " + std::to_string(training.pid()) + ") is not bound to CPUs") !=
          std::string::npos);
}
