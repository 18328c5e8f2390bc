// SPDX-License-Identifier: Apache-2.0
// A training's trace, and its agreement with steps.csv.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace fs = std::filesystem;
using testing::ask;
using testing::small;
using testing::StepsOfTrace;

TEST_CASE("steps in the trace and in steps csv are the same and phases add up to them")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::delay);
    const testing::TrainRun run =
        testing::trained(2, scratch / "run", small({"--steps", "12", "--control-delay", "1ms", "--readers", "2"}));

    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    REQUIRE(rows.rows() == 24);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(reader.archive().problems.empty());
    CHECK(reader.problems().empty());
    CHECK(trace.all_closed());
    CHECK(trace.monotone);
    CHECK(trace.steps.size() == 24);

    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const auto rank = static_cast<std::uint32_t>(rows.get<std::int64_t>(row, "rank"));
        const auto number = static_cast<std::uint64_t>(rows.get<std::int64_t>(row, "step"));
        REQUIRE(trace.steps.contains({rank, number}));
        const StepsOfTrace::Step& step = trace.steps.at({rank, number});
        CHECK(step.begin_ns == rows.get<std::int64_t>(row, "begin_ns"));
        CHECK(step.end_ns == rows.get<std::int64_t>(row, "end_ns"));
        std::int64_t sum = 0;
        for (const ddl::Phase phase : ddl::phases) {
            const std::string name = ddl::text(phase);
            const std::int64_t ns = rows.get<std::int64_t>(row, name + "_ns");
            sum += ns;
            if (phase == ddl::Phase::other) continue;
            const bool always = phase < ddl::Phase::checkpoint;
            if (always) REQUIRE(step.phase_ns.contains(name));
            CHECK((step.phase_ns.contains(name) ? step.phase_ns.at(name) : 0) == ns);
        }
        CHECK(sum == step.end_ns - step.begin_ns);
    }
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("a trace that has little memory is flushed on the way and is whole")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained_alone(
        scratch / "run", {"--model", "mlp[hidden=16]", "--data", "synthetic[samples=400]", "--batch", "2",
                          "--instrument", "L3", "--steps", "150", "--trace-memory", "768KiB"});
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(reader.problems().empty());
    CHECK(trace.all_closed());
    CHECK(trace.steps.size() == 150);
    CHECK(trace.regions["TRACE BUFFER FLUSH"] > 0);
    CHECK(testing::train_alone(scratch / "less", small({"--trace-memory", "100KiB"})).status != 0);
}

TEST_CASE("the counters of a coded training are metrics in its trace and its record")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(2, scratch / "run",
                                                 {"--model", "mlp[hidden=8]", "--data", "digits", "--batch", "8",
                                                  "--steps", "12", "--strategy", "coded[code=replication,grid=1x1]"});
    REQUIRE(run.status == 0);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(reader.problems().empty());
    const std::string record = base::read_whole(scratch / "run/train/run.json");
    for (const char* counter : {"code_errors_detected", "code_blocks_regenerated", "code_rollbacks"}) {
        CHECK(trace.metrics.at(counter) == 2 * 2);  // sampled by both ranks in steps 0 and 10
        CHECK(record.find(counter) != std::string::npos);
    }
}
#endif

TEST_CASE("the trace holds buckets and reads and metrics where they belong")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(2, scratch / "run", small({"--steps", "12", "--batch", "4"}));
    REQUIRE(run.status == 0);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    StepsOfTrace trace{archive};
    reader.read(trace);

    constexpr int ranks = 2;
    constexpr int buckets_of_a_rank = 12 * 2;
    CHECK(trace.regions.at("bucket_ready") == ranks * buckets_of_a_rank);
    CHECK(trace.regions.at("bucket_exchange") == ranks * buckets_of_a_rank);
    CHECK(trace.exchanged_bytes == std::map<std::string, std::uint64_t>{{"transport", ranks * 12 * 64'000}});
    CHECK(trace.regions.at("read") >= ranks * 12);
    CHECK(trace.metrics.at("queue_depth") == ranks * 2);  // sampled in steps 0 and 10
    CHECK(trace.metrics.at("bytes_reduced") == ranks * 2);
    CHECK(trace.metrics.at("bytes_read") == ranks * 2);
    CHECK(trace.metrics.at("context-switches") == ranks * 2);

    std::vector<std::string> names;
    for (const otf2::Location& location : archive.locations)
        names.push_back(archive.processes.at(location.process).name + ": " + location.name);
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"MPI Rank 0: main", "MPI Rank 0: reader 0", "MPI Rank 0: transport",
                                            "MPI Rank 1: main", "MPI Rank 1: reader 0", "MPI Rank 1: transport"});
    for (const otf2::Communicator& communicator : archive.communicators)
        for (const std::uint32_t member : communicator.members) CHECK(archive.locations.at(member).name == "transport");
    CHECK_FALSE(archive.communicators.empty());
}

TEST_CASE("the trace of cycles holds negotiation and fusion beside the exchanges")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::trained(2, scratch / "run",
                         {"--model", "emulated[compute=4ms,gradients=64kB,buckets=4,ready=100%/100%/100%/100%]",
                          "--data", "synthetic[samples=160]", "--strategy", "cycle[cycle=2ms]", "--steps", "12"});
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(reader.problems().empty());
    CHECK(trace.all_closed());
    CHECK(trace.monotone);
    CHECK(trace.regions.at("bucket_ready") == 2 * 12 * 4);
    CHECK(trace.regions.at("bucket_exchange") >= 2 * 12);
    CHECK(trace.regions.at("bucket_exchange") < 2 * 12 * 4);  // some tensors were fused
    CHECK(trace.exchanged_bytes == std::map<std::string, std::uint64_t>{{"transport", 2 * 12 * 64'000}});
    CHECK(trace.regions.at("negotiate") >= 2 * 12);
    CHECK(trace.regions.at("fusion_copy_in") >= 2);
    CHECK(trace.regions.at("fusion_copy_in") == trace.regions.at("fusion_copy_out"));
}

TEST_CASE("the trace of a shared out optimizer holds the exchange of gradients and that of parameters")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained(2, scratch / "run", small({"--strategy", "zero1", "--steps", "5"}));
    CHECK(run.result["bytes_averaged"] == 5 * 64'000);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(trace.all_closed());
    CHECK(trace.regions["bucket_exchange"] == 2 * 5 * 2);
    CHECK(trace.regions["MPI_Ireduce_scatter"] == 2 * 5 * 2);
    CHECK(trace.regions["parameter_exchange"] == 2 * 5);
    CHECK(trace.regions["MPI_Iallreduce"] == 0);
    CHECK(trace.exchanged_bytes == std::map<std::string, std::uint64_t>{{"transport", 2 * 5 * 64'000}});
}

TEST_CASE("locations that may use a GPU have the system's numbers of their threads")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained_alone(scratch / "run", small({"--steps", "3"}));
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    const nlohmann::json& rank = record["result"]["each_rank"][0];
    std::map<std::string, std::string> numbers;
    const otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    for (const otf2::Location& location : reader.archive().locations)
        if (const auto number = location.properties.find("crosstalk::thread"); number != location.properties.end())
            numbers[location.name] = number->second;
    CHECK(numbers.size() == 2);
    CHECK(numbers["main"] == std::to_string(rank["pid"].get<int>()));
    const auto is_transport = [&](const nlohmann::json& thread) {
        return std::to_string(thread["thread"].get<int>()) == numbers["transport"];
    };
    CHECK(numbers["transport"] != numbers["main"]);
    CHECK(std::any_of(rank["thread_cpus"].begin(), rank["thread_cpus"].end(), is_transport));
}

TEST_CASE("with --trace-gpu what CUPTI records is in the trace, and buckets have numbers")
{
    const fs::path cupti_of_ours = fs::absolute(CROSSTALK_BIN "/../tests/libfake-cupti.so").lexically_normal();
    if (!fs::exists(cupti_of_ours)) return testing::skip("built without CUPTI");
    const testing::Scratch scratch;
    fs::create_symlink(cupti_of_ours, scratch / "libcupti.so.13");
    const testing::Environment variables{{{"LD_LIBRARY_PATH", scratch.path().string()}, {"FAKE_CUPTI_LAUNCHES", "50"}}};
    const testing::TrainRun run = testing::trained_alone(scratch / "run", small({"--steps", "3", "--trace-gpu"}));
    const std::string archive = scratch / "run/train/trace/traces.otf2";
    const testing::Outcome info = testing::run({CROSSTALK_BIN "/trace-info", "--json", archive});
    CHECK(nlohmann::json::parse(info.out)["gpus"][0]["kernels"] == 50);
    otf2::Reader reader{archive};
    struct Numbered : otf2::Visitor {
        const otf2::Archive& archive;
        std::set<std::uint64_t> numbers;
        explicit Numbered(const otf2::Archive& of_archive) : archive{of_archive} {}
        void enter(const otf2::At&, std::uint32_t region, const otf2::EventAttributes& attributes) override
        {
            if (archive.regions.at(region).name != "bucket_exchange") return;
            const auto number = attributes.number(archive.find_attribute("External id").value());
            if (number) numbers.insert(*number);
        }
    } found{reader.archive()};
    reader.read_by_location(found);
    CHECK(found.numbers.size() == run.result["steps"].get<std::size_t>() * 2);
}

TEST_CASE("otf2-print reads the archive without a complaint")
{
    if (testing::run({"sh", "-c", "command -v otf2-print"}).status != 0)
        return testing::skip("otf2-print is not on this machine");
    const testing::Scratch scratch;
    REQUIRE(testing::train(2, scratch / "run", small({"--steps", "3"})).status == 0);
    const testing::Outcome printed = testing::run({"otf2-print", scratch / "run/train/trace/traces.otf2"});
    CHECK(printed.status == 0);
    CHECK(printed.err.empty());
    CHECK(printed.out.find("bucket_exchange") != std::string::npos);
}

TEST_CASE("without a trace there is none and all else is the same")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained_alone(scratch / "run", small({"--steps", "3", "--trace", "off"}));
    CHECK_FALSE(fs::exists(scratch / "run/train/trace"));
    CHECK(base::CsvTable{scratch / "run/train/steps.csv"}.rows() == 3);
}

TEST_CASE("the late rank is named by when its first bucket is ready")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::trained(2, scratch / "run",
                         {"--model", "emulated[compute=20ms,gradients=64kB,buckets=2]", "--data",
                          "synthetic[samples=400]", "--steps", "40", "--delay", "1:backward:60ms"});
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    int named = 0;
    for (const auto& [step, ready] : trace.first_ready)
        if (ready.at(1) > ready.at(0)) ++named;
    CHECK(trace.first_ready.size() == 40);
    CHECK(named >= 38);
    CHECK(trace.delays.size() == 40);
    for (const auto& [process, length] : trace.delays) {
        CHECK(process == 1);
        CHECK(length >= 60'000'000);
    }
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    CHECK(record["result"]["each_rank"][1]["injected_delays"]["count"] == 40);
    CHECK(record["result"]["each_rank"][0]["injected_delays"]["count"] == 0);
    CHECK(record["training"]["delays"][0]["phase"] == "backward");
}
