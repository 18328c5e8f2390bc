// SPDX-License-Identifier: Apache-2.0
// noisegen while a training runs, avoided processes, and other processes of its job.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/network/sockets.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

using namespace testing;

TEST_CASE("two processes of a job change slots together")
{
    const Scratch scratch;
    const auto words = [&](int rank) {
        return std::vector<std::string>{"env",
                                        "OMPI_COMM_WORLD_RANK=" + std::to_string(rank),
                                        "OMPI_COMM_WORLD_SIZE=2",
                                        program,
                                        "--schedule",
                                        "rotation(cpu.spin,placebo;slot=200ms)",
                                        "--cpus",
                                        cpu(),
                                        "--duration",
                                        "1s",
                                        "--seed",
                                        "4",
                                        "--out",
                                        scratch / "run"};
    };
    Child first{words(0)};
    Child second{words(1)};
    CHECK(first.wait() == 0);
    CHECK(second.wait() == 0);
    const auto a = record(part(scratch, 0));
    const auto b = record(part(scratch, 1));
    // Both processes converted the same real time to the same monotonic clock.
    const auto difference = a.at("begin_ns").get<std::int64_t>() - b.at("begin_ns").get<std::int64_t>();
    CHECK(std::abs(difference) < 10'000'000);
    const base::CsvTable csv_a{part(scratch, 0) / "noise.csv"};
    const base::CsvTable csv_b{part(scratch, 1) / "noise.csv"};
    REQUIRE(csv_a.rows() == 5);
    REQUIRE(csv_b.rows() == 5);
    for (std::size_t row = 0; row < 5; ++row) CHECK(csv_a.text(row, "factor") == csv_b.text(row, "factor"));
}

TEST_CASE("the control delay asks the training and lets go at the end of each slot")
{
    const Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    Child child{long_run(scratch, "control.delay 300ms; quiet 300ms")};
    CHECK(eventually([&] { return control.page().on_until_ns.load() > 0; }));
    CHECK(eventually([&] { return control.page().on_until_ns.load() == 0; }));
    ++control.page().acknowledged;
    CHECK(eventually([&] { return control.page().on_until_ns.load() > 0; }));
    ++control.page().acknowledged;
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    CHECK(control.page().on_until_ns.load() == 0);
}

TEST_CASE("idle CPUs are those that no avoided process is bound to")
{
    if (base::allowed_cpus().size() < 2) {
        testing::skip("needs a busy and an idle CPU");
        return;
    }
    const auto cores = base::physical_cores(base::allowed_cpus());
    if (cores.size() < 2) {
        testing::skip("needs two physical cores");
        return;
    }
    const Child busy{{"taskset", "-c", base::format_cpus(cores.front().cpus), "sleep", "60"}};
    REQUIRE(eventually([&] { return base::affinity_of(busy.pid()) == cores.front().cpus; }));
    const Scratch scratch;
    const Outcome outcome =
        run_noisegen({"--schedule", "cpu.spin 50ms", "--cpus", "idle", "--avoid", "pid:" + std::to_string(busy.pid()),
                      "--duration", "100ms", "--out", scratch / "run"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    base::CpuSet idle = base::allowed_cpus();
    for (const int used : cores.front().cpus) idle.erase(used);
    CHECK(base::parse_cpus(record(part(scratch)).at("cpus").get<std::string>()) == idle);
}

TEST_CASE("noise that somebody moves to another CPU is recorded where it ran, and breaks its promise")
{
    const base::CpuSet all = base::allowed_cpus();
    if (all.size() < 2) return testing::skip("needs two CPUs");
    const int other = std::to_string(*all.begin()) == cpu() ? *all.rbegin() : *all.begin();
    const Scratch scratch;
    Child noise{long_run(scratch, "cpu.spin 100ms")};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 3); }));
    CHECK(testing::run({"taskset", "-apc", std::to_string(other), std::to_string(noise.pid())}).status == 0);
    CHECK(eventually([&] { return noise.output().find("is on CPU " + std::to_string(other)) != std::string::npos; }));
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 8); }));
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 3);
    const base::CsvTable rows{part(scratch) / "noise.csv"};
    CHECK(rows.text(0, "cpu") == cpu());
    CHECK(rows.text(rows.rows() - 1, "cpu") == std::to_string(other));
    const nlohmann::json moved = record(part(scratch)).at("moved");
    REQUIRE(moved.size() == 1);
    CHECK(moved.at(0).at("cpu") == std::stoi(cpu()));
    CHECK(moved.at(0).at("to") == std::to_string(other));
}
