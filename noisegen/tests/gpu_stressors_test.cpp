// SPDX-License-Identifier: Apache-2.0
// The GPU stressors with a stub driver without a GPU, which simulates time: the work that they count equals the calls
// in the driver's independent log.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/cuda_stub.hpp"
#include "testing/environment.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>

namespace fs = std::filesystem;
using testing::cpu;
using testing::Outcome;
using testing::program;

namespace {

// A run of noisegen with the stub driver: its rows, its record and the driver's log.
struct RunOnStub {
    explicit RunOnStub(const std::string& schedule, std::map<std::string, std::string> stub = {},
                       const std::vector<std::string>& more = {})
    {
        stub["CUDA_STUB_LOG"] = scratch / "log";
        const testing::Environment environment{testing::with_cuda_stub(stub)};
        std::vector<std::string> words{program, "--schedule", schedule, "--out", scratch / "run"};
        words.insert(words.end(), more.begin(), more.end());
        if (std::find(more.begin(), more.end(), "--cpus") == more.end()) words.insert(words.end(), {"--cpus", cpu()});
        outcome = testing::run(words);
    }

    nlohmann::json asked() const { return nlohmann::json::parse(base::read_whole(scratch / "log")); }
    nlohmann::json record() const { return testing::record(testing::part(scratch)); }
    // Sum over all rows of that factor.
    std::int64_t sum(const std::string& factor, const std::string& column) const
    {
        const base::CsvTable rows{testing::part(scratch) / "noise.csv"};
        std::int64_t all = 0;
        for (std::size_t row = 0; row < rows.rows(); ++row)
            if (rows.text(row, "factor") == factor) all += rows.get<std::int64_t>(row, column);
        return all;
    }

    testing::Scratch scratch;
    Outcome outcome;
};

std::string one_line(const Outcome& outcome)
{
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.size() <= 200);
    return outcome.err;
}

}  // namespace

TEST_CASE("copies to and from a GPU are counted as its driver counts them")
{
    const RunOnStub both{"gpu.copy[size=1MiB] 300ms; quiet 100ms", {}, {"--duration", "800ms"}};
    INFO(both.outcome.err);
    REQUIRE(both.outcome.status == 0);
    const nlohmann::json asked = both.asked();
    const auto there = asked.at("bytes_to_device").get<std::int64_t>();
    const auto back = asked.at("bytes_to_host").get<std::int64_t>();
    CHECK(both.sum("gpu.copy", "bytes") == there + back);
    CHECK(both.sum("quiet", "bytes") == 0);
    CHECK(there > 0);
    CHECK(std::abs(there - back) <= 2 << 20);  // directions alternate
    CHECK(asked.at("pageable_bytes") == 0);
    CHECK(asked.at("most_bytes") == 2 << 20);  // one buffer for each direction
    CHECK(both.record()
              .at("stressors")
              .at(0)
              .at("how")
              .get<std::string>()
              .starts_with("pinned memory, GPU 0 (CUDA stub, 0000:01:00.0), "));
}

TEST_CASE("a copy goes one way, from memory that the GPU does not read itself, if that is asked for")
{
    const RunOnStub there{"gpu.copy[size=1MiB,direction=to-device,memory=pageable] 200ms"};
    REQUIRE(there.outcome.status == 0);
    CHECK(there.asked().at("bytes_to_host") == 0);
    CHECK(there.asked().at("pageable_bytes") == there.asked().at("bytes_to_device"));
    CHECK(there.sum("gpu.copy", "bytes") == there.asked().at("bytes_to_device"));
    const RunOnStub back{"gpu.copy[size=1MiB,direction=from-device] 200ms"};
    REQUIRE(back.outcome.status == 0);
    CHECK(back.asked().at("bytes_to_device") == 0);
    CHECK(back.sum("gpu.copy", "bytes") == back.asked().at("bytes_to_host"));
}

TEST_CASE("traffic inside a GPU is bytes read and bytes written")
{
    const RunOnStub run{"gpu.memory[size=8MiB] 200ms"};
    INFO(run.outcome.err);
    REQUIRE(run.outcome.status == 0);
    CHECK(run.asked().at("bytes_inside") > 0);
    CHECK(run.sum("gpu.memory", "bytes") == 2 * run.asked().at("bytes_inside").get<std::int64_t>());
    CHECK(run.asked().at("most_bytes") == 8 << 20);
    CHECK(run.asked().at("bytes_to_device") == 0);
}

TEST_CASE("each launch is an operation and none happens while it is off")
{
    const RunOnStub run{"gpu.launch 100ms; quiet 100ms", {{"CUDA_STUB_KERNEL_NS", "1000"}}, {"--duration", "600ms"}};
    INFO(run.outcome.err);
    REQUIRE(run.outcome.status == 0);
    CHECK(run.asked().at("kernels") > 0);
    CHECK(run.sum("gpu.launch", "operations") == run.asked().at("kernels"));
    CHECK(run.sum("quiet", "operations") == 0);
    CHECK(run.asked().at("most_bytes") == 0);
}

TEST_CASE("a rate on a GPU is of the whole process, which works on one of its CPUs")
{
    const std::string all = base::format_cpus(base::allowed_cpus());
    const RunOnStub run{"gpu.copy[size=1MiB,rate=100MB/s] 500ms", {}, {"--cpus", all, "--share"}};
    INFO(run.outcome.err);
    const bool reached = run.outcome.status == 0;
    REQUIRE((reached || run.outcome.status == 3));  // 3: the machine was busy
    const nlohmann::json level = run.record().at("factor_levels").at(0);
    CHECK(level.at("cpus") == 1);
    CHECK(level.at("requested_per_s") == 1e8);
    CHECK(level.at("rate_reached") == reached);
    CHECK(level.at("bytes_per_s") > 0.0);
    CHECK(level.at("bytes_per_s") < 1.1e8);
    const base::CsvTable rows{testing::part(run.scratch) / "noise.csv"};
    std::size_t working = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.text(row, "factor") == "gpu.copy") ++working;
    CHECK(rows.rows() == base::allowed_cpus().size());
    CHECK(working == 1);
}

TEST_CASE("what a training needs of a GPU's memory is refused with what there is")
{
    const std::map<std::string, std::string> small{{"CUDA_STUB_MEMORY", "100000000"}};
    const RunOnStub much{"gpu.memory[size=95MB] 100ms", small};
    CHECK(much.outcome.status == 2);
    CHECK(one_line(much.outcome) ==
          "noisegen: gpu.memory needs 95 MB of GPU 0, but 100 of its 100 MB are free, and 10 must stay free "
          "(spare=10%)\n");
    CHECK(!fs::exists(testing::part(much.scratch)));
    CHECK(RunOnStub{"gpu.memory[size=95MB,spare=5%] 100ms", small}.outcome.status == 0);
    // The memory of all stressors of a schedule is allocated at the same time.
    const RunOnStub together{"gpu.memory[size=50MB] 50ms; gpu.copy[size=25MB] 50ms", small, {"--duration", "100ms"}};
    CHECK(together.outcome.status == 2);
    CHECK(together.outcome.err.find("gpu.copy needs 100 MB of GPU 0") != std::string::npos);
    CHECK(RunOnStub{"gpu.launch[spare=100%] 100ms", small}.outcome.status == 0);  // needs no memory
}

TEST_CASE("a stressor of GPUs is on the GPU that was asked for, or refused by its number")
{
    const std::map<std::string, std::string> two{{"CUDA_STUB_DEVICES", "2"}};
    const RunOnStub second{"gpu.launch[device=1] 100ms", two};
    REQUIRE(second.outcome.status == 0);
    CHECK(second.record().at("stressors").at(0).at("how").get<std::string>().find("GPU 1 (CUDA stub, 0000:02:00.0)") !=
          std::string::npos);
    // With a training, the record has the PCI address of the training's GPU.
    const testing::Scratch training;
    fs::create_directory(training / "train");
    base::write_whole(training / "train/run.json", R"({"training": {"gpu": {"pci_id": "0000:02:00.0"}}})");
    const RunOnStub beside{"gpu.launch 100ms", two, {"--control", training.path()}};
    REQUIRE(beside.outcome.status == 0);
    CHECK(beside.record().at("stressors").at(0).at("how").get<std::string>().find("GPU 1 (") != std::string::npos);
    const RunOnStub third{"gpu.launch[device=2] 100ms", two};
    CHECK(third.outcome.status == 2);
    CHECK(one_line(third.outcome).starts_with("noisegen: gpu.launch[device]: there is no GPU 2; this process has 2"));
}

TEST_CASE("without a GPU its stressors are listed and refused in a line that says why")
{
    const Outcome list = testing::run_noisegen({"--list"});
    for (const std::string name : {"gpu.copy", "gpu.launch", "gpu.memory"})
        CHECK(list.out.find("  " + name) != std::string::npos);
    const RunOnStub none{"gpu.copy 100ms", {{"CUDA_STUB_DEVICES", "0"}}};
    CHECK(none.outcome.status == 77);
    CHECK(one_line(none.outcome).starts_with("noisegen: gpu.copy: there is no GPU: CUDA_ERROR_NO_DEVICE"));
    CHECK(!fs::exists(testing::part(none.scratch)));
    const Outcome plain = testing::run({"env", "-u", "LD_LIBRARY_PATH", program, "gpu.copy", "100ms", "--cpus", cpu()});
    if (plain.status == 0) return;  // this machine has a GPU
    CHECK(plain.status == 77);
    CHECK(one_line(plain).starts_with("noisegen: gpu.copy: there is no GPU: "));
}

TEST_CASE("wrong words for a GPU are refused")
{
    const std::map<std::string, std::string> refused{
        {"gpu.copy[direction=up]", "gpu.copy[direction] must be to-device, from-device or both, not up"},
        {"gpu.copy[memory=shared]", "gpu.copy[memory] must be pinned or pageable, not shared"},
        {"gpu.copy[size=1kB]", "gpu.copy[size] must be at least 1MiB, not 1kB"},
        {"gpu.copy[rate=5/s]", "gpu.copy[rate] must be in bytes"},
        {"gpu.launch[rate=5MB/s]", "gpu.launch[rate] must be in operations"},
        {"gpu.memory[spare=101%]", "gpu.memory[spare] must be 0% to 100%, not 101%"},
        {"gpu.memory[device=-1]", "gpu.memory[device] must be a number (0 or more), or auto, not -1"},
    };
    for (const auto& [schedule, reported] : refused) {
        CAPTURE(schedule);
        const RunOnStub run{schedule + " 100ms"};
        CHECK(run.outcome.status == 2);
        CHECK(one_line(run.outcome).find(reported) != std::string::npos);
    }
}

TEST_CASE("a signal ends noise on a GPU in good order, and a kill leaves no process")
{
    for (const int signal : {SIGTERM, SIGKILL}) {
        CAPTURE(signal);
        const testing::Scratch scratch;
        const testing::Environment environment{testing::with_cuda_stub()};
        testing::Child child{testing::long_run(scratch, "gpu.copy[size=1MiB] 100ms; gpu.launch 100ms")};
        REQUIRE(testing::eventually([&] { return testing::has_rows(testing::part(scratch) / "noise.csv", 2); }));
        child.signal(signal);
        CHECK(child.wait() == (signal == SIGTERM ? 0 : 128 + SIGKILL));
        CHECK(fs::exists(testing::part(scratch) / "trace/traces.otf2") == (signal == SIGTERM));
    }
}

TEST_CASE("what a GPU reaches is calibrated on one CPU, and a share of it is a rate")
{
    const testing::Scratch scratch;
    const testing::Environment environment{testing::with_cuda_stub()};
    const std::string limits = scratch / "limits.json";
    const std::string all = base::format_cpus(base::allowed_cpus());
    const Outcome calibrated = testing::run({program, "calibrate", "gpu.copy[size=1MiB]", "--cpus", all, "--share",
                                             "--rounds", "2", "--round", "100ms", "--limits", limits});
    INFO(calibrated.err);
    REQUIRE(calibrated.status == 0);
    const nlohmann::json found = nlohmann::json::parse(base::read_whole(limits)).at("limits");
    REQUIRE(found.size() == 1);
    CHECK(found.at(0).at("stressor") == "gpu.copy");
    CHECK(found.at(0).at("cpus") == 1);
    const Outcome half = testing::run(
        {program, "gpu.copy[size=1MiB,rate=50%]", "300ms", "--cpus", all, "--share", "--limits", limits, "--json"});
    INFO(half.err);
    const double limit = found.at(0).at("bytes_per_s").at("worst");
    CHECK(nlohmann::json::parse(half.out).at("factor_levels").at(0).at("requested_per_s").get<double>() ==
          doctest::Approx(limit / 2).epsilon(0.01));
}
