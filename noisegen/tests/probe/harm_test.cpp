// SPDX-License-Identifier: Apache-2.0
// Harm: slowdowns with known answers, and a real probe of victims and peers.
#include "base/csv.hpp"
#include "base/system/cpus.hpp"
#include "noisegen/measure/harm_probe.hpp"
#include "noisegen/measure/worst_shape_search.hpp"
#include "noisegen/resources/rates_of_limits.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace {

namespace fs = std::filesystem;
using noisegen::Piece;
using noisegen::Slot;
using noisegen::WorkByBlock;
using testing::Outcome;
using testing::program;
using testing::Scratch;

Slot slot(std::uint64_t block, std::int64_t begin_ms, std::int64_t end_ms, noisegen::Treatment treatment)
{
    Slot one;
    one.block = block;
    one.begin = std::chrono::milliseconds{begin_ms};
    one.end = std::chrono::milliseconds{end_ms};
    one.treatment = std::move(treatment);
    return one;
}

Piece piece(std::int64_t begin_ms, std::int64_t end_ms, double amount = 1.0)
{
    return {begin_ms * 1'000'000, end_ms * 1'000'000, amount};
}

// Work in blocks: 100 per second in quiet, and the given rates under the level.
WorkByBlock work_of(const std::vector<double>& under_the_level)
{
    WorkByBlock work;
    for (std::uint64_t block = 0; block < under_the_level.size(); ++block)
        work[block] = {{under_the_level[block], 1.0}, {100.0, 1.0}};
    return work;
}

// Arguments of the probe; empty if the test was skipped.
std::vector<std::string> harm_on_two_cores(const std::vector<std::string>& more)
{
    const auto cores = base::physical_cores(base::allowed_cpus());
    if (cores.size() < 2) {
        testing::skip("a probe needs a core for the victim and one for the noise");
        return {};
    }
    std::vector<std::string> words{"env",      testing::without_leak_check,
                                   program,    "probe",
                                   "--cpus",   std::to_string(*cores.back().cpus.begin()),
                                   "--array",  "4MiB",
                                   "--blocks", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

}  // namespace

TEST_CASE("a slot has the share of a piece that lies in it")
{
    // A level from 0 to 100 ms, then quiet; the first 20 ms of each slot are left out. The second piece lasts 60 ms and
    // crosses the border of the slots. The level's slot contains 20 of 40 ms of the first piece and 40 of 60 ms of the
    // second. The quiet slot contains nothing of those, and 60 of 80 ms of the third piece, which ends after the table.
    const std::vector<Slot> table{slot(0, 0, 100, {0}), slot(0, 100, 200, {})};
    const std::vector<Piece> pieces{piece(0, 40), piece(60, 120, 3.0), piece(140, 220, 8.0)};
    const WorkByBlock work = noisegen::work_in_slots(1, table, 0, pieces);
    REQUIRE(work.size() == 1);
    CHECK(work.at(0).at(0).amount == doctest::Approx(0.5 + 2.0));
    CHECK(work.at(0).at(0).seconds == doctest::Approx(0.060));
    CHECK(work.at(0).at(1).amount == doctest::Approx(6.0));
    CHECK(work.at(0).at(1).seconds == doctest::Approx(0.060));
}

TEST_CASE("a piece as long as several slots leaves work in each of them")
{
    const std::vector<Slot> table{slot(0, 0, 100, {0}), slot(0, 100, 200, {})};
    const WorkByBlock work = noisegen::work_in_slots(1, table, 1'000'000'000, {piece(900, 1400)}, 0.0);
    CHECK(work.at(0).at(0).amount == doctest::Approx(0.2));
    CHECK(work.at(0).at(1).amount == doctest::Approx(0.2));
}

TEST_CASE("slowdowns are multiplied over blocks, not added")
{
    // Slowdowns of 2 and 8 have the geometric mean 4.
    const noisegen::Estimate found = noisegen::slowdown(work_of({50.0, 12.5}), 0);
    CHECK(found.value == doctest::Approx(4.0));
    CHECK(found.blocks == 2);
    // The logarithms are 1 and 3 (base 2): mean 2, standard error 1, t of one degree of freedom 12.706.
    CHECK(std::log2(found.low) == doctest::Approx(2.0 - 12.706).epsilon(1e-4));
    CHECK(std::log2(found.high) == doctest::Approx(2.0 + 12.706).epsilon(1e-4));
    CHECK(noisegen::slowdown(work_of({0.0, 50.0, 50.0}), 0).blocks == 2);
    CHECK(std::isnan(noisegen::slowdown(work_of({0.0}), 0).value));
    CHECK(noisegen::quiet_per_second(work_of({1.0, 2.0})) == doctest::Approx(100.0));
}

TEST_CASE("the worst level is the one under which the victim takes longest")
{
    WorkByBlock work;
    for (std::uint64_t block = 0; block < 3; ++block)
        work[block] = {{80.0, 1.0}, {40.0 + static_cast<double>(block), 1.0}, {90.0, 1.0}, {100.0, 1.0}};
    CHECK(noisegen::worst_level(work, 3) == 1);
    CHECK(!noisegen::worst_level({}, 3));
    CHECK(!noisegen::worst_level({{0, work.at(0)}}, 3));  // one block has no interval
}

TEST_CASE("the worst shape is kept beside the limits, and stands for itself in a schedule")
{
    const Scratch scratch;
    const fs::path file = scratch / "limits.json";
    noisegen::Schedule schedule =
        noisegen::parse_schedule("rotation(memory.stream[bytes=2MiB,shape=worst|read], placebo; slot=1s)");
    CHECK_THROWS_AS(noisegen::resolve_rates(schedule, {{0}, {0}, {0}}, file), base::UsageError);
    noisegen::add_limits(file, {},
                         noisegen::WorstShape{.shape = "partial",
                                              .victim = 0,
                                              .noise_cpus = "1",
                                              .slowdown = 2.5,
                                              .low = 2.4,
                                              .high = 2.6,
                                              .measured = "2026-01-31T12:00:00Z"});
    noisegen::add_limits(file, {});  // a later addition keeps it
    noisegen::resolve_rates(schedule, {{0}, {0}, {0}}, file);
    CHECK(schedule.levels.at(0).level == "shape=worst");
    const auto& worst = schedule.stressors.at(schedule.levels.at(0).stressor);
    CHECK(worst.settings.text("shape") == "partial");
    CHECK(worst.settings.text("bytes") == "2MiB");
    CHECK(schedule.stressors.at(schedule.levels.at(1).stressor).settings.text("shape") == "read");
    CHECK(noisegen::text(*noisegen::read_limits(file).worst) ==
          "the worst shape of memory.stream is partial: with noise on CPUs 1 the memory accesses of a victim on CPU 0 "
          "take 2.5 times as long (2.4 to 2.6)");
    const Outcome shown = testing::run({program, "limits", "--limits", file});
    CHECK(shown.status == 0);
    CHECK(shown.out.find("the worst shape of memory.stream is partial") != std::string::npos);
    auto json = nlohmann::ordered_json::parse(base::read_whole(file));
    json["worst_shape"]["shape"] = "none such";
    base::write_whole(file, json.dump());
    CHECK_THROWS(noisegen::read_limits(file));
}

TEST_CASE("a shape that is not known yet is refused with the command that finds it")
{
    const Scratch scratch;
    const Outcome outcome = testing::run({"env", "XDG_CACHE_HOME=" + scratch.path().string(), program,
                                          "memory.stream[bytes=2MiB,shape=worst] 100ms", "--cpus", testing::cpu()});
    CHECK(outcome.status == 2);
    CHECK(outcome.err ==
          "noisegen: memory.stream[shape=worst]: not measured on this node; measure it with: noisegen calibrate "
          "memory.stream --victim CPU\n");
}

TEST_CASE("a calibration beside a victim finds a shape")
{
    const auto cores = base::physical_cores(base::allowed_cpus());
    if (cores.size() < 2) return testing::skip("needs a core for the victim and one for the noise");
    const Scratch scratch;
    const std::string victim = std::to_string(*cores.front().cpus.begin());
    const std::string noise = std::to_string(*cores.back().cpus.begin());
    const Outcome same = testing::run({program, "calibrate", testing::tiny_memory, "--cpus", noise, "--victim", noise});
    CHECK(same.status == 2);
    CHECK(std::count(same.err.begin(), same.err.end(), '\n') == 1);
    const base::CpuSet all = base::allowed_cpus();
    const auto found = noisegen::find_worst_shape({.victim = *cores.front().cpus.begin(),
                                                   .cpus = {*cores.back().cpus.begin()},
                                                   .blocks = 3,
                                                   .array = "4MiB",
                                                   .stressor = "memory.stream[bytes=2MiB,shape=read|partial]"});
    base::bind_this_thread(all);
    REQUIRE(found);
    CHECK((found->shape == "read" || found->shape == "partial"));
    CHECK(found->noise_cpus == noise);
    CHECK(found->slowdown > 0.0);
    CHECK(found->low <= found->slowdown);
}

TEST_CASE("the table of harm has a row a noise and victim")
{
    const Scratch scratch;
    noisegen::HarmReport report{.victims = {"bandwidth", "fsync"}, .quiet_per_second = {8e9, 4000.0}};
    report.harms.push_back({.name = "stress-ng --cache 1, twice",
                            .stressor = "peer",
                            .level = "",
                            .slowdowns = {{2.0, 1.5, 2.5, 9}, {100.0, 50.0, 200.0, 8}}});
    noisegen::write_harm_csv(scratch / "harm.csv", report);
    const base::CsvTable csv{scratch / "harm.csv"};
    REQUIRE(csv.rows() == 2);
    CHECK(csv.text(0, "noise") == "stress-ng --cache 1, twice");
    CHECK(csv.text(0, "victim") == "bandwidth");
    CHECK(csv.text(0, "unit") == "bytes/s");
    CHECK(csv.get<double>(0, "quiet_per_s") == 8e9);
    CHECK(csv.get<double>(1, "slowdown") == 100.0);
    CHECK(csv.get<double>(1, "high") == 200.0);
    CHECK(csv.get<int>(1, "blocks") == 8);
    CHECK(csv.text(1, "unit") == "syncs/s");
}

TEST_CASE("every stressor that can be on alone is tried where none is named")
{
    const auto words = noisegen::default_harm_stressors(base::allowed_cpus(), "/var/tmp");
    const auto has = [&](const std::string& word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    CHECK(has("placebo"));
    CHECK(has("io.write[directory=/var/tmp]"));
    CHECK(has("io.fsync[directory=/var/tmp]"));
    CHECK(has("metadata.create[directory=/var/tmp]"));
    CHECK(has("network.stream"));
    CHECK(!has("job.run"));
    CHECK(!has("capacity.hog"));
    CHECK(!has("network.alltoall"));
    // Each name occurs once, and together they form a valid schedule.
    CHECK(noisegen::rotation_of(words, std::chrono::seconds{1}).levels.size() >=
          words.size() - 1 + noisegen::stream_shapes().size());
}

TEST_CASE("victims named by words are slowed down in turns, a peer beside ours")
{
    const Scratch scratch;
    const std::vector<std::string> words = harm_on_two_cores(
        {"placebo", "memory.stream[bytes=2MiB]", "--victim", "bandwidth,fsync,tcp", "--slot", "200ms", "--peer",
         "while :; do :; done", "--scratch", scratch.path().string(), "--out", (scratch / "run").string()});
    if (words.empty()) return;
    const Outcome outcome = testing::run(words);
    INFO(outcome.out);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("while :; do :; done") != std::string::npos);
    CHECK(outcome.out.find("over 2 blocks") != std::string::npos);
    const base::CsvTable csv{scratch / "run/probe/harm.csv"};
    REQUIRE(csv.rows() == 9);
    CHECK(csv.text(0, "noise") == "placebo");
    CHECK(csv.text(8, "noise") == "while :; do :; done");
    CHECK(csv.text(8, "victim") == "tcp");
    for (std::size_t row = 0; row < csv.rows(); ++row) {
        CHECK(csv.get<double>(row, "slowdown") > 0.0);
        CHECK(csv.get<double>(row, "quiet_per_s") > 0.0);
    }
    const auto json = nlohmann::json::parse(base::read_whole(scratch / "run/probe/harm.json"));
    CHECK(json.at("victims") == nlohmann::json{"bandwidth", "fsync", "tcp"});
    CHECK(json.at("harm").size() == 9);
    CHECK(!fs::exists(scratch / "run/probe/probe.csv"));
}

TEST_CASE("a training is a victim by its steps")
{
    if (!fs::exists(fs::path{program}.parent_path() / "ddl-train")) return testing::skip("built without ddl-train");
    const Scratch scratch;
    const auto words =
        harm_on_two_cores({"cpu.spin", "--victim", "step", "--slot", "200ms", "--victim-model",
                           "emulated[compute=5ms,gradients=64kB,device=spin]", "--out", (scratch / "run").string()});
    if (words.empty()) return;
    const Outcome outcome = testing::run(words);
    INFO(outcome.out);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const base::CsvTable csv{scratch / "run/probe/harm.csv"};
    REQUIRE(csv.rows() == 1);
    CHECK(csv.text(0, "unit") == "steps/s");
    CHECK(csv.get<double>(0, "quiet_per_s") > 1.0);
    CHECK(csv.get<double>(0, "quiet_per_s") < 201.0);  // a step takes at least 5 ms
}

TEST_CASE("a peer that fails, and words that name no victim, are refused with one line")
{
    const Scratch scratch;
    const auto failing = harm_on_two_cores({"placebo", "--victim", "tcp", "--slot", "100ms", "--peer", "exit 7"});
    if (failing.empty()) return;
    const Outcome failed = testing::run(failing);
    CHECK(failed.status == 3);
    CHECK(failed.err.find("--peer ended with an error") != std::string::npos);
    const std::vector<std::pair<std::vector<std::string>, std::string>> refusals{
        {{"--victim", "bandwith"}, "did you mean bandwidth?"},        {{"--victim", "0,0"}, "one CPU"},
        {{"--victim", "fsync", "--scratch", "/nowhere"}, "/nowhere"}, {{"--peer", " "}, "no program given"},
        {{"--peer", "true", "--command", "true"}, "--peer"},
    };
    for (const auto& [more, reported] : refusals) {
        CAPTURE(more);
        std::vector<std::string> words = harm_on_two_cores({"placebo", "--out", (scratch / "none").string()});
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = testing::run(words);
        INFO(outcome.err);
        CHECK(outcome.status != 0);
        CHECK(outcome.err.find(reported) != std::string::npos);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
    CHECK(!fs::exists(scratch / "none/probe"));
}
