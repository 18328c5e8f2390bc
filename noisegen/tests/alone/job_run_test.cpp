// SPDX-License-Identifier: Apache-2.0
// job.run: the program runs in its slots only, and none of its processes outlives the noise.
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/system/cgroups.hpp"
#include "base/system/cpus.hpp"
#include "base/system/processes.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace testing;

// A script that repeatedly appends the CLOCK_MONOTONIC time to its harvest.
fs::path neighbour(const Scratch& scratch, const std::string& before = "")
{
    const fs::path file = scratch / "neighbour.sh";
    base::write_whole(file, "#!/bin/sh\n" + before + R"(exec /usr/bin/python3 -c '
import os, time
with open(os.environ["CROSSTALK_HARVEST"], "a", buffering=1) as harvest:
    while True:
        harvest.write(str(time.monotonic_ns()) + "\n")
        time.sleep(0.001)
'
)");
    ::chmod(file.c_str(), 0700);
    return file;
}

Outcome noise(const Scratch& scratch, const std::string& schedule, const std::string& duration)
{
    return testing::run({"env", without_leak_check, program, "--schedule", schedule, "--cpus", cpu(), "--duration",
                         duration, "--out", scratch / "run"});
}

// The job's file with this ending in the run's log.
fs::path of_job(const Scratch& scratch, const std::string& ending)
{
    for (const fs::directory_entry& entry : fs::directory_iterator{scratch / "run/log"})
        if (entry.path().extension() == ending) return entry.path();
    return {};
}

struct Harvested {
    std::size_t inside = 0;  // lines written in slots of the job
    std::size_t outside = 0;
};

Harvested harvested(const Scratch& scratch)
{
    constexpr std::int64_t late_ns = 20'000'000;
    const base::CsvTable rows{part(scratch) / "noise.csv"};
    std::istringstream harvest{base::read_whole(of_job(scratch, ".harvest"))};
    Harvested lines;
    for (std::int64_t at_ns = 0; harvest >> at_ns;) {
        bool inside = false;
        for (std::size_t row = 0; row < rows.rows(); ++row)
            inside |= rows.text(row, "stressor") == "job.run" && at_ns >= rows.get<std::int64_t>(row, "begin_ns") &&
                      at_ns <= rows.get<std::int64_t>(row, "end_ns") + late_ns;
        ++(inside ? lines.inside : lines.outside);
    }
    return lines;
}

// Number of processes with that directory in their command line.
std::size_t left_of(const Scratch& scratch)
{
    std::size_t left = 0;
    for (const auto& [pid, process] : base::processes()) {
        try {
            const std::string words = base::read_whole("/proc/" + std::to_string(pid) + "/environ");
            if (pid != ::getpid() && words.find(scratch.path().string() + "/run/log") != std::string::npos) ++left;
        } catch (const std::exception&) {  // the process has ended, or belongs to another user
        }
    }
    return left;
}

}  // namespace

TEST_CASE("a neighbour's job runs in its slots and rests outside of them, and its harvest is counted by slot")
{
    const Scratch scratch;
    const std::string job = "job.run[file=" + neighbour(scratch).string() + "]";
    const Outcome outcome = noise(scratch, job + " 200ms; quiet 200ms", "1200ms");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const base::CsvTable rows{part(scratch) / "noise.csv"};
    const auto [inside, outside] = harvested(scratch);
    const std::size_t all = inside + outside;
    CHECK(all > 20);
    CHECK(outside <= 2);  // written by the first instructions, before the job is frozen
    std::int64_t counted = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        if (rows.text(row, "stressor") != "job.run") CHECK(rows.get<std::int64_t>(row, "operations") == 0);
        counted += rows.get<std::int64_t>(row, "operations");
    }
    CHECK(counted <= static_cast<std::int64_t>(all));
    CHECK(counted >= static_cast<std::int64_t>(all) * 3 / 4);  // all but those at the ends of slots
    CHECK(base::read_whole(part(scratch) / "noise.json").find("frozen by ") != std::string::npos);
    CHECK(left_of(scratch) == 0);
}

TEST_CASE("a neighbour's job does not wait for a CPU that it uses itself")
{
    const Scratch scratch;
    const Outcome outcome = noise(scratch, "job.run[command=while :; do :; done] 200ms; quiet 100ms", "1s");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const base::CsvTable rows{part(scratch) / "noise.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row) CHECK(rows.get<std::int64_t>(row, "waited_ns") == 0);
}

TEST_CASE("a job that leaves its terminal ends with the noise, too")
{
    const Scratch scratch;
    const std::string before = "[ -n \"$DAEMON\" ] || { DAEMON=1 setsid \"$0\" & exit 0; }\n";
    const std::string job = "job.run[file=" + neighbour(scratch, before).string() + "]";
    const Outcome outcome = noise(scratch, job + " 300ms; quiet 100ms", "1200ms");
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(base::read_whole(of_job(scratch, ".harvest")).size() > 100);
    CHECK(left_of(scratch) == 0);
}

TEST_CASE("nothing is left of a neighbour's job after kill -9 of noisegen")
{
    const Scratch scratch;
    const std::string job = "job.run[file=" + neighbour(scratch).string() + "]";
    Child child{{program, "--schedule", job + " 50ms; quiet 50ms", "--cpus", cpu(), "--duration", "60s", "--out",
                 scratch / "run"}};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 5); }));
    CHECK(left_of(scratch) > 0);
    child.signal(SIGKILL);
    child.wait();
    CHECK(eventually([&] { return left_of(scratch) == 0; }));
}

namespace {

// A copy of noisegen for another user, who may not enter the build folder.
std::string program_of_all(const Scratch& scratch)
{
    const fs::path copy = scratch / "noisegen";
    fs::copy_file(program, copy);
    ::chmod(copy.c_str(), 0755);
    return copy;
}

}  // namespace

TEST_CASE("who may make no control group freezes the job by signals")
{
    if (::geteuid() != 0) return testing::skip("needs root, to be another user");
    const Scratch scratch;
    const std::string job = "job.run[file=" + neighbour(scratch).string() + "]";
    for (const fs::path& path : {scratch.path(), scratch / "neighbour.sh"}) ::chmod(path.c_str(), 0777);
    const Outcome outcome =
        testing::run({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", without_leak_check,
                      program_of_all(scratch), "--schedule", job + " 200ms; quiet 200ms", "--cpus", cpu(), "--duration",
                      "1200ms", "--out", scratch / "run"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(base::read_whole(part(scratch) / "noise.json").find("frozen by signals") != std::string::npos);
    const auto [inside, outside] = harvested(scratch);
    CHECK(inside > 20);
    CHECK(outside <= 2);  // written by the first instructions, before the job is frozen
    CHECK(left_of(scratch) == 0);
}

TEST_CASE("a job that ends by itself is on record, and the noise goes on")
{
    const Scratch scratch;
    base::write_whole(scratch / "short.sh", "#!/bin/sh\necho said\n");
    ::chmod((scratch / "short.sh").c_str(), 0700);
    const Outcome outcome =
        noise(scratch, "job.run[file=" + (scratch / "short.sh").string() + "] 100ms; quiet 100ms", "600ms");
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(base::read_whole(of_job(scratch, ".log")) == "said\n");
    const auto record = nlohmann::json::parse(base::read_whole(part(scratch) / "noise.json"));
    CHECK(record["stressors"][0]["job_ended"][0] == "the job has ended");
    CHECK(record["factor_levels"][0]["job_ended"] == true);
}

TEST_CASE("a job that is no program is refused in one line")
{
    const Scratch scratch;
    base::write_whole(scratch / "text", "no program\n");
    ::chmod((scratch / "text").c_str(), 0700);
    for (const std::string file : {"/nowhere", "/tmp", ""})
        CHECK(noise(scratch, "job.run[file=" + file + "] 1s", "1s").status == 2);
    const Outcome format = noise(scratch, "job.run[file=" + (scratch / "text").string() + "] 1s", "1s");
    CHECK(format.status == 1);
    CHECK(format.err.find("cannot be started: Exec format error") != std::string::npos);
    CHECK(std::count(format.err.begin(), format.err.end(), '\n') == 1);
}

TEST_CASE("a run whose directory has a line break in its name is refused in one line beside a neighbour's job")
{
    const Scratch scratch;
    const std::string job = "job.run[file=" + neighbour(scratch).string() + "] 1s";
    const Outcome outcome = testing::run({"env", without_leak_check, program, "--schedule", job, "--cpus", cpu(),
                                          "--duration", "1s", "--out", scratch / "a\nrun"});
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("line breaks are not allowed") != std::string::npos);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

namespace {

// The keeper of noisegen's job once the job runs; 0 before.
pid_t keeper_of(pid_t noise)
{
    const std::map<pid_t, base::Process> all = base::processes();
    for (const auto& [pid, process] : all)
        if (process.parent == noise)
            for (const auto& [child, of] : all)
                if (of.parent == pid) return pid;
    return 0;
}

std::string oom_score_adj(pid_t pid)
{
    return base::read_whole("/proc/" + std::to_string(pid) + "/oom_score_adj");
}

std::vector<std::string> endless(const Scratch& scratch, const std::string& job)
{
    return {"env",
            without_leak_check,
            program,
            "--schedule",
            job + " 50ms; quiet 50ms",
            "--cpus",
            cpu(),
            "--duration",
            "60s",
            "--out",
            scratch / "run"};
}

}  // namespace

TEST_CASE("noise ends in good order when the keeper of its neighbour's job is killed")
{
    const Scratch scratch;
    Child noise{endless(scratch, "job.run[file=" + neighbour(scratch).string() + "]")};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 5); }));
    const pid_t keeper = keeper_of(noise.pid());
    REQUIRE(keeper != 0);
    CHECK(oom_score_adj(keeper) == "0\n");
    CHECK(oom_score_adj(noise.pid()) == "1000\n");
    ::kill(keeper, SIGKILL);
    CHECK(noise.wait() == 1);
    CHECK(noise.output().find("the keeper of job.run was killed") != std::string::npos);
    CHECK(left_of(scratch) == 0);
    CHECK(record(part(scratch)).at("exit").at("reason") == "failure");
    for (const base::CgroupDirectory& group : base::cgroup_directories("freezer"))
        CHECK(!fs::exists(group.path / (base::own_group_prefix + std::to_string(keeper))));
}

TEST_CASE("noise ends when it is asked to while the keeper of its neighbour's job is stopped")
{
    const Scratch scratch;
    Child noise{endless(scratch, "job.run[file=" + neighbour(scratch).string() + "]")};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 5); }));
    const pid_t keeper = keeper_of(noise.pid());
    REQUIRE(keeper != 0);
    ::kill(keeper, SIGSTOP);
    noise.signal(SIGTERM);
    noise.wait();
    CHECK(left_of(scratch) == 0);
}

TEST_CASE("what leaves the control group of a neighbour's job rests outside of its slots, too, and is on record")
{
    const Scratch scratch;
    const base::CgroupDirectory* root = nullptr;
    const std::vector<base::CgroupDirectory> groups = base::cgroup_directories("freezer");
    for (const base::CgroupDirectory& group : groups)
        if (root == nullptr && ::access((group.path / "cgroup.procs").c_str(), W_OK) == 0) root = &group;
    if (root == nullptr || ::geteuid() != 0) return testing::skip("needs a control group that this user may write to");
    const std::string leave = "echo $$ >" + (root->path / "cgroup.procs").string() + "\n";
    const Outcome outcome =
        noise(scratch, "job.run[file=" + neighbour(scratch, leave).string() + "] 200ms; quiet 200ms", "1200ms");
    INFO(outcome.err);
    const auto [inside, outside] = harvested(scratch);
    CHECK(inside > 20);
    CHECK(outside <= 4);  // written by the first instructions, before the job is stopped
    CHECK(base::read_whole(part(scratch) / "noise.json").find("and by signals 1 process that left its group") !=
          std::string::npos);
    CHECK(left_of(scratch) == 0);
}

TEST_CASE("a set-uid program of a neighbour's job that /proc hides breaks the promise of noise")
{
    const Scratch scratch;
    struct statvfs mounted {};
    ::statvfs(scratch.path().c_str(), &mounted);
    const std::string hide = "mount -t proc -o hidepid=2 proc /proc";
    const std::vector<std::string> apart{"unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c"};
    std::vector<std::string> words = apart;
    words.push_back(hide);
    if (::geteuid() != 0 || (mounted.f_flag & ST_NOSUID) != 0 || testing::run(words).status != 0)
        return testing::skip("needs root, a set-uid program and a namespace of its own");
    const fs::path sleeper = scratch / "sleeper";
    fs::copy_file("/usr/bin/sleep", sleeper);
    ::chmod(sleeper.c_str(), 04755);
    const std::string job = "job.run[file=" + neighbour(scratch, sleeper.string() + " 1000 &\n").string() + "]";
    for (const fs::path& path : {scratch.path(), scratch / "neighbour.sh"}) ::chmod(path.c_str(), 0777);
    words = apart;
    for (const std::string& word :
         {hide + "; exec \"$@\"", std::string{"sh"}, std::string{"setpriv"}, std::string{"--reuid=65534"},
          std::string{"--regid=65534"}, std::string{"--clear-groups"}, std::string{"env"},
          std::string{without_leak_check}, program_of_all(scratch), std::string{"--schedule"},
          job + " 200ms; quiet 200ms", std::string{"--cpus"}, cpu(), std::string{"--duration"}, std::string{"1200ms"},
          std::string{"--out"}, (scratch / "run").string()})
        words.push_back(word);
    const Outcome outcome = testing::run(words);
    INFO(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("1 process of the neighbour's job hidden (hidepid)") != std::string::npos);
    CHECK(left_of(scratch) == 0);
}

TEST_CASE("a neighbour's job that binds itself to other CPUs breaks the promise of noise")
{
    const base::CpuSet all = base::allowed_cpus();
    if (all.size() < 2) return testing::skip("needs two CPUs");
    const Scratch scratch;
    const int other = std::to_string(*all.begin()) == cpu() ? *all.rbegin() : *all.begin();
    const std::string bind = "taskset -pc " + std::to_string(other) + " $$ >/dev/null\n";
    const Outcome outcome =
        noise(scratch, "job.run[file=" + neighbour(scratch, bind).string() + "] 100ms; quiet 100ms", "1s");
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("left the noise's CPUs") != std::string::npos);
    CHECK(record(part(scratch))
              .at("stressors")
              .at(0)
              .at("not_kept")
              .get<std::string>()
              .ends_with("1 process of the neighbour's job left the noise's CPUs"));
}
