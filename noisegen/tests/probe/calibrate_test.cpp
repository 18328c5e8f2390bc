// SPDX-License-Identifier: Apache-2.0
// A real calibration of small stressors, and rates given as a share of its results.
#include "noisegen/measure/calibrate.hpp"

#include "base/csv.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/measure/window_sums.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace {

namespace fs = std::filesystem;
using testing::Child;
using testing::cpu;
using testing::eventually;
using testing::Outcome;
using testing::program;
using testing::Scratch;
using testing::tiny_memory;

std::vector<std::string> calibration(const std::string& stressor, const fs::path& file)
{
    return {program, "calibrate", stressor, "--cpus", cpu(), "--rounds", "3", "--round", "100ms", "--limits", file};
}

std::vector<std::string> operator+(std::vector<std::string> words, const std::vector<std::string>& more)
{
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

const noisegen::StressorLimit* found(const noisegen::NodeLimits& limits, const std::string& stressor, std::size_t cpus)
{
    const auto entry = std::find_if(limits.entries.begin(), limits.entries.end(), [&](const auto& candidate) {
        return candidate.stressor == stressor && candidate.cpus == cpus;
    });
    return entry == limits.entries.end() ? nullptr : &*entry;
}

}  // namespace

TEST_CASE("a calibration keeps what each stressor reached on one core and on all")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    const base::CpuSet all = base::allowed_cpus();
    const Outcome outcome =
        testing::run({program, "calibrate", "cpu.spin", tiny_memory, "--cpus", base::format_cpus(all), "--rounds", "3",
                      "--round", "100ms", "--limits", file});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const noisegen::NodeLimits limits = noisegen::read_limits(file);
    const std::vector<base::Core> cores = base::physical_cores(all);
    for (const std::size_t cpus : {cores.front().cpus.size(), all.size()}) {
        const auto* spin = found(limits, "cpu.spin", cpus);
        const auto* stream = found(limits, "memory.stream", cpus);
        REQUIRE(spin != nullptr);
        REQUIRE(stream != nullptr);
        CHECK(spin->operations_per_s.best > 0.0);
        CHECK(spin->bytes_per_s.best == 0.0);
        CHECK(stream->bytes_per_s.best > 0.0);
        CHECK(stream->bytes_per_s.median >= stream->bytes_per_s.worst);
        CHECK(stream->options.at("bytes") == "2MiB");
        CHECK(!stream->options.contains("rate"));
        CHECK(stream->rounds == 3);
        CHECK(base::parse_cpus(stream->cpus_used).size() == cpus);
        CHECK(stream->machine.contains("kernel"));
        // A round of 100 ms has one window on each CPU; on a busy machine a round may end one window late.
        CHECK(stream->window.windows <= 3);
        if (stream->window.windows > 0) {
            CHECK(stream->window.bytes_per_s > 0.0);
            CHECK(stream->window.bytes_per_s < stream->bytes_per_s.best * 1.05);
        }
        CHECK(stream->machine.contains("clock_identity"));
        CHECK(stream->machine.at("waited_for_cpu").get<double>() >= 0.0);
    }
    CHECK(outcome.out.find("GB/s") != std::string::npos);
    CHECK(outcome.out.find("windows of 100 ms hold") != std::string::npos);
    CHECK(outcome.out.find("saved in " + file.string()) != std::string::npos);
    // If other processes run on these CPUs, the test cannot know the path to memory.
    const bool idle = outcome.err.find("other processes ran on these CPUs") == std::string::npos;
    if (cores.size() >= 2 && idle) CHECK(outcome.out.find(tiny_memory + ": two cores reach ") != std::string::npos);
    const Outcome shown = testing::run({program, "limits", "--limits", file});
    CHECK(shown.status == 0);
    CHECK(outcome.out.starts_with(shown.out));
    fs::remove(file);
    CHECK(testing::run({program, "limits", "--limits", file}).err.find("noisegen calibrate") != std::string::npos);
}

TEST_CASE("a rate in percent is that share of the worst round that was found")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    const std::vector<std::string> words{program,    "--schedule", "cpu.spin[rate=40%] 100ms; quiet 20ms",
                                         "--cpus",   cpu(),        "--duration",
                                         "240ms",    "--out",      scratch / "run",
                                         "--limits", file};
    const Outcome unknown = testing::run(words);
    CHECK(unknown.status == 2);
    CHECK(
        unknown.err ==
        "noisegen: cpu.spin[rate=40%]: its limit on 1 CPU is not known; measure it with: noisegen calibrate 'cpu.spin' "
        "--cpus " +
            cpu() + " --limits '" + file.string() + "'\n");
    CHECK(!fs::exists(scratch / "run"));
    REQUIRE(testing::run(calibration("cpu.spin", file)).status == 0);
    const double worst = noisegen::read_limits(file).entries.at(0).operations_per_s.worst;
    const Outcome outcome = testing::run(words);
    INFO(outcome.err);
    REQUIRE((outcome.status == 0 || outcome.status == 3));  // a busy machine may not reach the rate
    const auto part = scratch / "run" / "noise" / (base::host_name() + ".0");
    const auto json = nlohmann::json::parse(base::read_whole(part / "noise.json"));
    CHECK(json.at("factor_levels").at(0).at("requested_per_s").get<double>() ==
          doctest::Approx(0.4 * worst).epsilon(1e-4));
    CHECK(json.at("factor_levels").at(0).at("operations_per_s").get<double>() > 0.0);
}

TEST_CASE("a rate beyond what windows hold is warned of before the run")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    REQUIRE(testing::run(calibration("cpu.spin", file)).status == 0);
    auto json = nlohmann::ordered_json::parse(base::read_whole(file));
    json["limits"][0]["windows_of_100ms"] = {{"count", 9}, {"bytes_per_s", 0.0}, {"operations_per_s", 1.0}};
    base::write_whole(file, json.dump());
    const Outcome outcome = testing::run({program, "cpu.spin[rate=40%] 100ms", "--cpus", cpu(), "--limits", file});
    INFO(outcome.err);
    CHECK((outcome.status == 0 || outcome.status == 3));  // a busy machine may not reach the rate
    CHECK(outcome.err.find("cpu.spin: windows of 100 ms sustain only 1 /s here, but ") != std::string::npos);
}

TEST_CASE("two calibrations at once keep what both found")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    Child first{calibration("cpu.spin", file)};
    Child second{calibration(tiny_memory, file)};
    CHECK(first.wait() == 0);
    CHECK(second.wait() == 0);
    const noisegen::NodeLimits limits = noisegen::read_limits(file);
    CHECK(found(limits, "cpu.spin", 1) != nullptr);
    CHECK(found(limits, "memory.stream", 1) != nullptr);
}

TEST_CASE("a calibration that is stopped keeps what was known before")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    const Outcome outcome = testing::run(calibration("cpu.spin", file));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const std::string before = base::read_whole(file);
    const auto begun = fs::last_write_time(file);
    Child child{{program, "calibrate", "cpu.spin", "--cpus", cpu(), "--rounds", "10000", "--limits", file}};
    REQUIRE(eventually([&] { return fs::last_write_time(file) != begun; }));  // checks that the file is writable
    child.signal(SIGTERM);
    CHECK(child.wait() == 3);
    CHECK(child.output().find("no limits were saved") != std::string::npos);
    CHECK(base::read_whole(file) == before);
}

TEST_CASE("what cannot run is left out with a line unless it was asked for and is an error if it was")
{
    const Scratch scratch;
    const std::vector<std::string> little{"--max-disk", "0%", "--max-memory", "1%"};
    const auto all =
        testing::run(std::vector<std::string>{"env", testing::without_leak_check, program, "calibrate", "--cpus", cpu(),
                                              "--rounds", "1", "--round", "10ms", "--limits", scratch / "limits.json"} +
                     little);
    INFO(all.err);
    CHECK(all.status == 0);
    CHECK(all.err.find("io.write on 1 CPU is left out: io.write takes ") != std::string::npos);
    CHECK(found(noisegen::read_limits(scratch / "limits.json"), "cpu.spin", 1) != nullptr);
    CHECK(found(noisegen::read_limits(scratch / "limits.json"), "io.write", 1) == nullptr);
    const auto one = testing::run(calibration("io.write", scratch / "other.json") + little);
    CHECK(one.status == 2);
    CHECK(one.err.find("--max-disk") != std::string::npos);
}

TEST_CASE("bad words are refused with one line")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    const std::vector<std::pair<std::vector<std::string>, std::string>> refusals{
        {{program, "calibrat"}, "did you mean calibrate?"},
        {calibration("memory.strem", file), "did you mean memory.stream?"},
        {calibration("placebo", file), "has no rate"},
        {calibration("cpu.spin; slot=1s", file), "is not a name with options"},
        {calibration("memory.stream[bytes=x]", file), "bytes"},
        {calibration("cpu.spin", file) + std::vector<std::string>{"--seed", "x"}, "--seed"},
        {{program, "calibrate", "cpu.spin", "--cpus", "60000", "--limits", file}, "does not exist"},
        {{program, "calibrate", "cpu.spin", "--rounds", "0", "--limits", file}, "--rounds"},
        {{program, "calibrate", "cpu.spin", "--round", "1ms", "--limits", file}, "--round"},
        {{"env", "OMPI_COMM_WORLD_LOCAL_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=2", program, "calibrate", "cpu.spin",
          "--limits", file},
         "one process per node"},
    };
    for (const auto& [words, reported] : refusals) {
        CAPTURE(words);
        const Outcome outcome = testing::run(words);
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK(outcome.err.starts_with("noisegen: "));
        CHECK(outcome.err.find(reported) != std::string::npos);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
    CHECK(!fs::exists(file));
}

TEST_CASE("a window counts if every CPU has it from border to border")
{
    constexpr std::int64_t start = 5'000'000'000;
    const auto sample = [](std::int64_t begin_ms, std::int64_t end_ms, std::uint64_t bytes) {
        return noisegen::Sample{
            .begin_ns = start + begin_ms * 1'000'000, .end_ns = start + end_ms * 1'000'000, .work = {.bytes = bytes}};
    };
    noisegen::WindowSums sums{2};
    sums.add(start, sample(100, 200, 1000));
    sums.add(start, sample(100, 201, 2020));  // ends a millisecond late
    sums.add(start, sample(200, 250, 7));     // half a window
    sums.add(start, sample(201, 300, 990));
    const noisegen::Windows whole = sums.whole();
    REQUIRE(whole.bytes.size() == 1);
    CHECK(whole.bytes.at(0) == doctest::Approx(30'000.0));
}

TEST_CASE("two cores that reach twice what one does share no path to memory")
{
    const std::vector<double> one{10.0, 10.0, 10.0, 10.0};
    const auto words = [](const noisegen::Coupling& coupling) { return noisegen::text(coupling, {0}, {1}); };
    const auto apart = noisegen::coupling(one, {20.0, 19.0, 18.5, 21.0});
    CHECK(apart.apart == 4);
    CHECK(apart.median_ratio == doctest::Approx(1.95));
    CHECK(words(apart) ==
          "two cores reach 1.95 times what one reaches: CPUs 0 and 1 do not share a memory path (4 of 4 rounds); "
          "memory noise on one hardly slows the other");
    const auto shared = noisegen::coupling(one, {10.0, 9.0, 11.0, 12.0});
    CHECK(shared.shared == 4);
    CHECK(words(shared) ==
          "two cores reach 1.05 times what one reaches: CPUs 0 and 1 share a memory path (4 of 4 rounds)");
    CHECK(words(noisegen::coupling(one, {15.0, 15.0, 15.0, 15.0})).find("in part (4 of 4") != std::string::npos);
    const auto changing = noisegen::coupling(one, {20.0, 20.0, 10.0, 15.0});
    CHECK(changing.apart == 2);
    CHECK(changing.shared == 1);
    CHECK(changing.in_part == 1);
    CHECK(words(changing).find("this changes with time") != std::string::npos);
    CHECK(noisegen::text(apart, {0, 4}, {1, 5}).find("the cores of CPUs 0,4 and of CPUs 1,5") != std::string::npos);
}
