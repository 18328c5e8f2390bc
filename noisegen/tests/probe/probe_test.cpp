// SPDX-License-Identifier: Apache-2.0
// A real probe of small stressors: its table, its files, its end.
#include "noisegen/measure/probe.hpp"

#include "base/csv.hpp"
#include "base/system/cpus.hpp"
#include "noisegen/measure/victims/victim.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace {

namespace fs = std::filesystem;
using testing::Child;
using testing::eventually;
using testing::Outcome;
using testing::Scratch;

using testing::program;

// The victim's CPU is on the first core, the noise CPU on the last. Empty if the test was skipped.
std::vector<std::string> probe_on_two_cores(const std::vector<std::string>& stressors, const std::string& slot)
{
    const auto cores = base::physical_cores(base::allowed_cpus());
    if (cores.size() < 2) {
        testing::skip("a probe needs a core for the victim and one for the noise");
        return {};
    }
    std::vector<std::string> words{program, "probe"};
    words.insert(words.end(), stressors.begin(), stressors.end());
    const std::vector<std::string> more{"--victim", std::to_string(*cores.front().cpus.begin()),
                                        "--cpus",   std::to_string(*cores.back().cpus.begin()),
                                        "--array",  "4MiB",
                                        "--slot",   slot};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

const std::vector<std::string> small{"placebo", "cpu.spin", "memory.stream[bytes=2MiB,shape=read|update]"};

}  // namespace

TEST_CASE("the victim measures itself in slices one after the other")
{
    noisegen::Victim::Setup setup = noisegen::Victim::setup(*base::allowed_cpus().begin(), "2MiB");
    CHECK(noisegen::Victim::memory(setup).count >= (5 << 20));
    setup.slice = std::chrono::milliseconds{1};
    noisegen::Victim victim{setup};
    victim.start();
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    const std::vector<noisegen::Slice> slices = victim.stop();
    REQUIRE(slices.size() >= 3);
    for (std::size_t i = 0; i < slices.size(); ++i) {
        CHECK(static_cast<std::size_t>(slices[i].kind) == i % 3);  // order: read, chase, cache
        CHECK(slices[i].amount > 0.0);
        CHECK(slices[i].cpu_ns > 0);
        CHECK(slices[i].end_ns - slices[i].begin_ns >= 1'000'000);
        if (i > 0) CHECK(slices[i].begin_ns >= slices[i - 1].end_ns);
    }
    CHECK_THROWS_AS(noisegen::Victim::setup(0, "1kB"), base::UsageError);
}

TEST_CASE("a victim with a place to write also writes and sends messages")
{
    const Scratch scratch;
    noisegen::Victim::Setup setup = noisegen::Victim::setup(*base::allowed_cpus().begin(), "2MiB");
    setup.slice = std::chrono::milliseconds{1};
    setup.scratch = scratch.path();
    noisegen::Victim victim{setup};
    victim.start();
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    const std::vector<noisegen::Slice> slices = victim.stop();
    REQUIRE(slices.size() >= 5);
    for (std::size_t i = 0; i < slices.size(); ++i) {
        CHECK(static_cast<std::size_t>(slices[i].kind) == i % noisegen::Slice::kinds);
        CHECK(slices[i].amount > 0.0);
    }
}

TEST_CASE("a probe writes its table, its files and its plot")
{
    const Scratch scratch;
    std::vector<std::string> words = probe_on_two_cores(small, "200ms");
    if (words.empty()) return;
    words.insert(words.end(), {"--blocks", "2", "--out", scratch / "run"});
    const Outcome outcome = testing::run(words);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("memory.stream[shape=update]") != std::string::npos);
    CHECK(outcome.out.find("over 2 blocks") != std::string::npos);
    const base::CsvTable csv{scratch / "run/probe/probe.csv"};
    REQUIRE(csv.rows() == 4);
    CHECK(csv.text(0, "stressor") == "placebo");
    CHECK(csv.get<double>(0, "own_bytes_per_s") == 0.0);
    CHECK(csv.get<double>(1, "own_operations_per_s") > 0.0);
    CHECK(csv.text(3, "level") == "shape=update");
    CHECK(csv.get<double>(3, "own_bytes_per_s") > 0.0);
    const auto json = nlohmann::json::parse(base::read_whole(scratch / "run/probe/probe.json"));
    CHECK(json.at("blocks") == 2);
    CHECK(json.at("damage").size() == 4);
    CHECK(json.at("victim_alone").at("bytes_per_s").get<double>() > 0.0);
    CHECK(json.at("host").get<std::string>() != "");
    // On a machine so busy that no noise has an interval there is nothing to draw.
    bool drawn = false;
    for (std::size_t i = 0; i < csv.rows(); ++i)
        drawn = drawn || std::ranges::none_of(std::array{"bandwidth_low", "latency_low", "cache_latency_low"},
                                              [&](const char* low) { return csv.text(i, low).ends_with("nan"); });
    CHECK(fs::exists(scratch / "run/probe/probe.gp") == drawn);
    CHECK(fs::exists(scratch / "run/probe/probe.svg") ==
          (drawn && testing::run({"sh", "-c", "command -v gnuplot"}).status == 0));
    const Outcome again = testing::run(words);
    CHECK(again.status == 2);
    CHECK(again.err.find("is already there") != std::string::npos);
}

TEST_CASE("a probe that is stopped before two blocks leaves nothing")
{
    const Scratch scratch;
    std::vector<std::string> words = probe_on_two_cores({"cpu.spin"}, "10s");
    if (words.empty()) return;
    words.insert(words.end(), {"--out", scratch / "run"});
    Child child{words};
    REQUIRE(eventually([&] { return fs::exists(scratch / "run/probe"); }));
    child.signal(SIGTERM);
    CHECK(child.wait() == 3);
    CHECK(child.output().find("nothing to report") != std::string::npos);
    CHECK(!fs::exists(scratch / "run/probe"));
}

TEST_CASE("a probe that is stopped later reports the whole blocks")
{
    const Scratch scratch;
    std::vector<std::string> words = probe_on_two_cores({"cpu.spin"}, "50ms");
    if (words.empty()) return;
    words.insert(words.end(), {"--blocks", "10000", "--out", scratch / "run"});
    Child child{words};
    // The first progress line appears after ten seconds.
    REQUIRE(eventually([&] { return child.output().find(" of 10000") != std::string::npos; }));
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    const auto json = nlohmann::json::parse(base::read_whole(scratch / "run/probe/probe.json"));
    CHECK(json.at("blocks").get<int>() >= 2);
    CHECK(json.at("blocks").get<int>() < 10'000);
    CHECK(base::CsvTable{scratch / "run/probe/probe.csv"}.rows() == 1);
}

TEST_CASE("a probe that makes no sense is refused with one line and leaves nothing")
{
    const Scratch scratch;
    const std::string one = std::to_string(*base::allowed_cpus().begin());
    const std::vector<std::string> somewhere{program, "probe", "--victim", one, "--out", scratch / "run"};
    const std::vector<std::pair<std::vector<std::string>, std::string>> refusals{
        {{"--cpus", one}, "is the victim's"},
        {{"--cpus", "60000"}, "does not exist"},
        {{"--victim", "60000"}, "cannot be specified more than once"},
        {{"--blocks", "1"}, "--blocks"},
        {{"--slot", "1ms"}, "--slot"},
        {{"--slot", "1h", "--blocks", "100000"}, "more than a year"},
        {{"--array", "1"}, "unit"},
        {{"--array", "900TiB"}, "--max-memory"},
        {{"--array", "-1"}, "--array: '-1'"},
        {{"cpu.spin; quiet=1"}, "is not a name with options"},
        {{""}, "is not a name with options"},
        {{"--slots", "1s"}, "did you mean --slot?"},
    };
    if (base::physical_cores(base::allowed_cpus()).size() < 2) {
        testing::skip("a probe needs a core for the victim and one for the noise");
        return;
    }
    for (const auto& [more, reported] : refusals) {
        CAPTURE(more);
        std::vector<std::string> words = somewhere;
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = testing::run(words);
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK(outcome.err.starts_with("noisegen: "));
        CHECK(outcome.err.find(reported) != std::string::npos);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
    CHECK(!fs::exists(scratch / "run"));
}

TEST_CASE("the default probe has its controls and every shape of memory traffic")
{
    const base::CpuSet all = base::allowed_cpus();
    const std::vector<std::string> words = noisegen::default_probe_stressors(all);
    CHECK(words.at(0) == "placebo");
    CHECK(words.at(1) == "cpu.spin");
    CHECK(words.at(2).starts_with("memory.stream[bytes="));
    CHECK(words.at(2).find("|update") != std::string::npos);
    const noisegen::Schedule schedule = noisegen::rotation_of(words, std::chrono::seconds{1});
    CHECK(schedule.levels.at(2).level.starts_with("shape="));
    const auto bytes = [&](std::size_t level) {
        return schedule.stressors.at(schedule.levels.at(level).stressor).settings.get<base::Bytes>("bytes").count;
    };
    CHECK(bytes(2) >= std::int64_t{64} << 20U);
    CHECK(bytes(2) * static_cast<std::int64_t>(all.size()) >= noisegen::beyond_caches(*all.begin()).count);
    CHECK(bytes(schedule.levels.size() - 2) == bytes(2));
}
