// SPDX-License-Identifier: Apache-2.0
// Other programs that disturb a running noisegen, and noisegen's consideration for them.
#include "base/contract/control_file.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace {

namespace fs = std::filesystem;
using namespace testing;

std::vector<pid_t> children_of(pid_t pid)
{
    std::vector<pid_t> children;
    std::ifstream file{"/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children"};
    for (pid_t child = 0; file >> child;) children.push_back(child);
    return children;
}

int oom_score_adj(pid_t pid)
{
    int number = 0;
    std::ifstream{"/proc/" + std::to_string(pid) + "/oom_score_adj"} >> number;
    return number;
}

std::size_t count(const std::string& text, const std::string& words)
{
    std::size_t found = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("noise whose control file is cut short continues and completes its trace")
{
    const Scratch scratch;
    Child noise{{program, "--schedule", "control.delay 50ms; cpu.spin[follow=backward] 50ms", "--cpus", cpu(),
                 "--share", "--duration", "3s", "--out", scratch / "run"}};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 3); }));
    fs::resize_file(scratch / "run/control" / base::host_name(), 0);
    const int status = noise.wait();
    const std::string said = noise.output();
    INFO(said);
    CHECK(status == 3);  // the followed phase never came
    CHECK(count(said, "noisegen: the control file was truncated while in use: continuing without it\n") == 1);
    CHECK(fs::exists(part(scratch) / "trace/traces.otf2"));
    CHECK(record(part(scratch)).at("exit").at("reason") == "duration");
    CHECK(record(part(scratch)).at("factor_levels").at(0).at("operations_per_s") == 0.0);
}

TEST_CASE("where memory runs out noise is the kernel's first victim and so is what it started")
{
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    Child noise{long_run(scratch, "metadata.create[files=20,directory=" + (scratch / "io").string() + "] 50ms")};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 1); }));
    CHECK(oom_score_adj(noise.pid()) == 1000);
    CHECK(record(part(scratch)).at("oom_score_adj") == 1000);
    const std::vector<pid_t> children = children_of(noise.pid());
    CHECK_FALSE(children.empty());  // the guardian of its files
    for (const pid_t child : children) CHECK(oom_score_adj(child) == 1000);
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 0);
    CHECK(oom_score_adj(::getpid()) != 1000);
}

TEST_CASE("two noisegens on one CPU are reported")
{
    const Scratch one;
    const Scratch other;
    Child first{long_run(one, "cpu.spin 20ms; quiet 20ms")};
    REQUIRE(eventually([&] { return has_rows(part(one) / "noise.csv", 1); }));
    // The second noisegen has another parent, since processes with one parent are ranks of one job.
    const auto second = [&](const std::string& more) {
        return testing::run({"sh", "-c",
                             program + " --schedule 'C1S1' --duration 100ms --cpus " + cpu() + more + " --out " +
                                 (other / "run").string() + "; exit $?"});
    };
    const std::string words = "another noisegen (" + std::to_string(first.pid()) + ") is on these CPUs, too";
    CHECK(count(second("").err, words) == 1);
    fs::remove_all(other / "run");
    CHECK(count(second(" --share").err, words) == 0);
    first.signal(SIGTERM);
    first.wait();
}

TEST_CASE("a plan that starts in an hour is refused at once")
{
    const Scratch scratch;
    const fs::path plan = scratch / "run/noise/plan.json";
    fs::create_directories(plan.parent_path());
    const std::int64_t begin = base::now_ns() + base::realtime_offset_ns() + 3'600'000'000'000;
    nlohmann::json json{
        {"schedule", "C1S1"}, {"seed", 1}, {"duration_ns", 100'000'000}, {"start_realtime_ns", begin}, {"slot_ns", 0}};
    std::ofstream{plan} << json;
    const Outcome outcome = run_noisegen(
        {"--schedule", "C1S1", "--cpus", cpu(), "--share", "--duration", "100ms", "--out", scratch / "run"});
    CHECK(outcome.status == 1);
    CHECK(count(outcome.err, "\n") == 1);
    CHECK(outcome.err.find("plan.json starts in 3") != std::string::npos);
    CHECK_FALSE(fs::exists(part(scratch)));
}

TEST_CASE("a start that is seconds ahead is waited for and reported")
{
    const Scratch scratch;
    const fs::path plan = scratch / "run/noise/plan.json";
    fs::create_directories(plan.parent_path());
    const std::int64_t begin = base::now_ns() + base::realtime_offset_ns() + 60'000'000'000;
    nlohmann::json json{
        {"schedule", "C1S1"}, {"seed", 1}, {"duration_ns", 100'000'000}, {"start_realtime_ns", begin}, {"slot_ns", 0}};
    std::ofstream{plan} << json;
    Child noise{
        {program, "--schedule", "C1S1", "--cpus", cpu(), "--share", "--duration", "100ms", "--out", scratch / "run"}};
    CHECK(eventually([&] { return noise.output().find(" s for the start given in ") != std::string::npos; }));
    noise.signal(SIGTERM);
    noise.wait();
}

TEST_CASE("a node whose name leads elsewhere is refused")
{
    const Scratch scratch;
    const Outcome outcome =
        testing::run({"env", "SLURMD_NODENAME=../../evil", program, "--schedule", "control.delay 50ms", "--cpus", cpu(),
                      "--duration", "50ms", "--out", scratch / "a/run"});
    CHECK(outcome.status == 2);
    CHECK(outcome.err == "noisegen: SLURMD_NODENAME: '../../evil' is not the name of a host\n");
    CHECK_FALSE(fs::exists(scratch / "a/evil"));
}
