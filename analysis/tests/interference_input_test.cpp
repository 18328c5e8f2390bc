// SPDX-License-Identifier: Apache-2.0
// Tests of interference's input: options, archives, tables, steps of other programs, and refusals.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

using analysis::testing::SyntheticRun;
namespace fs = std::filesystem;
using testing::analyse;
using testing::one_line;
using testing::program;
using testing::verdict_in;

namespace {

// Writes steps of two ranks, each step right after the previous one; returns the file's name.
std::string table_of_steps(const fs::path& file, int step_ns)
{
    base::CsvWriter table{file, {"rank", "step", "begin_ns", "end_ns", "backward_ns"}};
    for (int step = 0; step < 60; ++step)
        for (int rank = 0; rank < 2; ++rank) table.row(rank, step, step * step_ns, (step + 1) * step_ns, 12'000'000);
    return file.string();
}

// Writes the steps of a synthetic run as another program would.
void write_own_table(const fs::path& run, const fs::path& file, bool hosts = false)
{
    fs::remove(file.parent_path() / "steps.csv");
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-steps", run / "train/trace/traces.otf2", "-o", file.parent_path()})
                .status == 0);
    const base::CsvTable steps{file.parent_path() / "steps.csv"};
    std::ofstream out{file};
    out << "rank,step,begin_ns,end_ns" << (hosts ? ",host" : "") << "\n";
    for (std::size_t row = 0; row < steps.rows(); ++row) {
        for (const char* column : {"rank", "step", "begin_ns"}) out << steps.text(row, column) << ",";
        out << steps.text(row, "end_ns") << (hosts ? ",nowhere" : "") << "\n";
    }
}

}  // namespace

TEST_CASE("percentages are understood without their sign, a confidence also as a share, and analyse with a z")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    const testing::Outcome outcome =
        testing::run({program, "analyze", scratch / "run", "--draws", "99", "--budget", "5", "--confidence", "0.9"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const nlohmann::json verdict = verdict_in(scratch / "run");
    CHECK(verdict["budget_percent"] == 5.0);
    CHECK(verdict["confidence_percent"].get<double>() == doctest::Approx(90.0));
    fs::remove_all(scratch / "run/report");
    CHECK(analyse(scratch / "run", {"--budget", "0.5", "--confidence", "90"}).status == 0);
    CHECK(verdict_in(scratch / "run")["budget_percent"] == 0.5);
    CHECK(verdict_in(scratch / "run")["confidence_percent"].get<double>() == doctest::Approx(90.0));
}

TEST_CASE("an existing report is left alone")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.run_s = 6.0});
    fs::create_directory(scratch / "run/report");
    const testing::Outcome outcome = analyse(scratch / "run");
    CHECK(outcome.status == 2);
    CHECK(one_line(outcome.err));
    CHECK(fs::is_empty(scratch / "run/report"));
}

TEST_CASE("archives of two different clocks are refused unless the offset is stated")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.noise_clock = "another-boot/1/CLOCK_MONOTONIC"});
    const testing::Outcome refused = analyse(scratch / "run");
    CHECK(refused.status == 1);
    CHECK(one_line(refused.err));
    CHECK(refused.err.find("two different clocks") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "run/report"));
    const testing::Outcome stated = analyse(scratch / "run", {"--clock-offset", "0s"});
    CHECK(stated.status == 0);
    CHECK(verdict_in(scratch / "run")["factors"]["mem"]["verdict"] == "unsafe");
}

TEST_CASE("an offset is not applied where the clocks are the same")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    CHECK(analyse(scratch / "run", {"--clock-offset", "100s"}).status == 0);
    CHECK(verdict_in(scratch / "run")["factors"]["mem"]["verdict"] == "unsafe");
}

TEST_CASE("missing and cut-off archives are refused with one line")
{
    const testing::Scratch scratch;
    const testing::Outcome nothing = analyse(scratch / "nowhere");
    CHECK(nothing.status == 1);
    CHECK(one_line(nothing.err));

    analysis::testing::write_run(scratch / "run", {.run_s = 6.0});
    fs::path events;
    for (const auto& file : fs::recursive_directory_iterator{scratch / "run/train/trace"})
        if (file.path().extension() == ".evt" && (events.empty() || fs::file_size(file.path()) > fs::file_size(events)))
            events = file.path();
    REQUIRE_FALSE(events.empty());
    fs::resize_file(events, fs::file_size(events) / 2);
    const testing::Outcome cut = analyse(scratch / "run");
    CHECK(cut.status == 1);
    CHECK(one_line(cut.err));
    CHECK_FALSE(fs::exists(scratch / "run/report"));

    // All events of a rank are missing: this is not a job with one rank less.
    analysis::testing::write_run(scratch / "lost", {.run_s = 6.0});
    fs::path lost = scratch / "lost" / fs::relative(events, scratch / "run");
    REQUIRE(fs::remove(lost));
    const testing::Outcome half = analyse(scratch / "lost");
    CHECK(half.status == 1);
    CHECK(one_line(half.err));
    CHECK(half.err.find("not sound") != std::string::npos);

    fs::remove(scratch / "run/noise/here.0/trace/traces.otf2");
    CHECK(analyse(scratch / "run").status == 1);
    fs::remove_all(scratch / "run/noise");
    const testing::Outcome no_noise = analyse(scratch / "run");
    CHECK(no_noise.status == 1);
    CHECK(no_noise.err.find("no noise process") != std::string::npos);
}

TEST_CASE("archives in the place of each other are refused")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.run_s = 6.0});
    const std::string train = scratch / "run/train/trace/traces.otf2";
    const std::string noise = scratch / "run/noise/here.0/trace/traces.otf2";
    const std::string out = scratch / "out";
    const testing::Outcome no_steps =
        testing::run({program, "exposure", "--train", noise, "--noise", noise, "--out", out});
    CHECK(no_steps.status == 1);
    CHECK(no_steps.err.find("no training steps") != std::string::npos);
    const testing::Outcome no_slots =
        testing::run({program, "exposure", "--train", train, "--noise", train, "--out", out});
    CHECK(no_slots.status == 1);
    CHECK(no_slots.err.find("no location 'schedule'") != std::string::npos);
}

TEST_CASE("wrong words are exit code 2 and help is 0")
{
    CHECK(testing::run({program, "analise"}).err.find("did you mean analyse") != std::string::npos);
    CHECK(testing::run({program, "analise"}).status == 2);
    CHECK(testing::run({program}).status == 2);
    CHECK(testing::run({program, "exposure", "--train", "x"}).status == 2);
    CHECK(testing::run({program, "analyse", "x", "--budget", "one"}).status == 2);
    CHECK(testing::run({program, "analyse", "x", "--budget", "0"}).status == 2);
    CHECK(testing::run({program, "analyse", "x", "--confidence", "0.3"}).status == 2);
    CHECK(testing::run({program, "analyse", "x", "--confidence", "100%"}).status == 2);
    for (const char* command : {"analyse", "exposure", "compare", "controls"}) {
        const testing::Outcome help = testing::run({program, command, "--help"});
        CHECK(help.status == 0);
        CHECK(help.out.find("Examples:") != std::string::npos);
    }
    CHECK(testing::run({program, "--version"}).status == 0);
}

TEST_CASE("sets of runs are compared from directories and archives and tables")
{
    const testing::Scratch scratch;
    std::vector<std::string> words{program, "compare", "--out", scratch / "comparison", "--quiet"};
    for (std::uint64_t seed : {1, 2, 3}) {
        const fs::path folder = scratch / ("quiet" + std::to_string(seed));
        fs::create_directories(folder / "train");
        analysis::testing::write_training(folder / "train/trace",
                                          {.noise = {{"mem", "", "", 0.0, -1}}, .run_s = 4.0, .seed = seed});
        words.push_back(seed == 1 ? folder.string() : (folder / "train/trace/traces.otf2").string());
        base::write_whole(folder / "train/run.json",
                          R"({"host": "node1", "started": "2026-11-21T05:44:58Z", "training": {"model": "mlp"}})");
    }
    words.emplace_back("--noisy");
    for (int run = 0; run < 2; ++run)
        words.push_back(table_of_steps(scratch / ("noisy" + std::to_string(run) + ".csv"), 22'000'000 + run * 10'000));
    const testing::Outcome outcome = testing::run(words);
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    const nlohmann::json verdict = nlohmann::json::parse(base::read_whole(scratch / "comparison/verdict.json"));
    CHECK(verdict["effect_percent"].get<double>() == doctest::Approx(10.0).epsilon(0.15));
    CHECK(verdict["verdict"] == "unsafe");
    CHECK(verdict["steps_aligned"] == 50);
    CHECK(outcome.err.find("noisy0.csv has 60 steps, others up to ") != std::string::npos);
    const std::string page = base::read_whole(scratch / "comparison/index.html");
    for (const char* link : {"verdict.json", "compare.csv", "runs.csv", "aligned_steps.csv"}) {
        CHECK_MESSAGE(page.find(base::join("href=\"", link, "\"")) != std::string::npos, link);
        CHECK_MESSAGE(fs::exists(scratch / "comparison" / link), link);
    }
    CHECK(page.find("<code>" + base::join_words(words, " ") + "</code>") != std::string::npos);
    const base::CsvTable runs{scratch / "comparison/runs.csv"};
    REQUIRE(runs.rows() == 5);
    CHECK(runs.text(0, "model") == "mlp");
    CHECK(runs.text(1, "host") == "node1");
    CHECK(runs.text(2, "started") == "2026-11-21T05:44:58Z");
    CHECK(runs.text(4, "model").empty());
    const base::CsvTable shown{scratch / "comparison/effects_step.csv"};
    REQUIRE(shown.rows() >= 2);
    CHECK(shown.text(0, "name") == "step");
    CHECK(shown.get<double>(0, "effect_percent") ==
          doctest::Approx(verdict["effect_percent"].get<double>()).epsilon(1e-4));
    CHECK(testing::run(words).status == 2);

    const testing::Outcome twice =
        testing::run({program, "compare", "--out", scratch / "twice", "--quiet", scratch / "quiet1",
                      scratch / "./quiet1", "--noisy", words.back(), scratch / "noisy0.csv"});
    CHECK(twice.status == 2);
    CHECK(twice.err.find("are the same run") != std::string::npos);
}

TEST_CASE("a table of steps and the noise's archive give what the training's own archive gives")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(analyse(scratch / "run").status == 0);
    const nlohmann::json own = verdict_in(scratch / "run");
    write_own_table(scratch / "run", scratch / "own.csv");
    const testing::Outcome outcome = analyse(scratch / "run", {"--steps", scratch / "own.csv", "--out", scratch / "r"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const auto table = nlohmann::json::parse(base::read_whole(scratch / "r/verdict.json"));
    CHECK(table["quiet_step_ms"] == own["quiet_step_ms"]);
    for (const char* number : {"effect_percent", "low_percent", "high_percent"})
        CHECK(table["factors"]["mem"][number] == own["factors"]["mem"][number]);

    write_own_table(scratch / "run", scratch / "elsewhere.csv", true);
    const testing::Outcome elsewhere =
        analyse(scratch / "run", {"--steps", scratch / "elsewhere.csv", "--out", scratch / "r2"});
    CHECK(elsewhere.status == 1);
    CHECK(one_line(elsewhere.err));
}

TEST_CASE("steps that a rank lacks are counted and too many of them are a reason for distrust")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(analyse(scratch / "run").status == 0);
    write_own_table(scratch / "run", scratch / "own.csv");
    const base::CsvTable all{scratch / "own.csv"};
    const auto without_every = [&](std::int64_t nth, const char* name) {
        std::ofstream some{scratch / name};
        some << base::join_words(all.columns(), ",") << '\n';
        std::size_t left_out = 0;
        for (std::size_t row = 0; row < all.rows(); ++row) {
            const bool lost = all.text(row, "rank") == "1" && all.get<std::int64_t>(row, "step") % nth == 1;
            left_out += lost ? 1 : 0;
            std::vector<std::string> cells;
            for (const std::string& column : all.columns()) cells.push_back(all.text(row, column));
            if (!lost) some << base::join_words(cells, ",") << '\n';
        }
        return left_out;
    };
    const auto verdict_of = [&](const char* name) {
        const testing::Outcome outcome =
            analyse(scratch / "run", {"--steps", scratch / name, "--out", scratch / (std::string{name} + ".report")});
        REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
        return nlohmann::json::parse(base::read_whole(scratch / (std::string{name} + ".report/verdict.json")));
    };
    const std::size_t few = without_every(50, "few.csv");
    const nlohmann::json one_of_50 = verdict_of("few.csv");
    CHECK(one_of_50["reasons"].dump().find("some ranks lack them") == std::string::npos);
    CHECK(one_of_50["steps"]["not of all ranks"] == few);
    const std::string text = std::to_string(few) + " steps are excluded: some ranks lack them";
    CHECK(one_of_50["limits"].dump().find(text) != std::string::npos);
    without_every(7, "many.csv");
    const nlohmann::json one_of_7 = verdict_of("many.csv");
    CHECK(one_of_7["reasons"].dump().find("steps are excluded: some ranks lack them") != std::string::npos);
}

TEST_CASE("a table of another clock or beside an archive's choice of steps is refused in one line")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    std::ofstream{scratch / "early.csv"} << "rank,step,begin_ns,end_ns\n0,0,10,20\n0,1,20,30\n";
    const testing::Outcome early = analyse(scratch / "run", {"--steps", scratch / "early.csv"});
    CHECK(early.status == 1);
    CHECK(early.err.find("are its times CLOCK_MONOTONIC") != std::string::npos);
    CHECK(one_line(early.err));
    CHECK(analyse(scratch / "run", {"--steps", scratch / "early.csv", "--step-from", "MPI_Send"}).status == 2);
    CHECK(analyse(scratch / "run", {"--step-region", "load", "--step-from", "load"}).status == 2);
    const testing::Outcome inside = analyse(scratch / "run", {"--step-from", "load"});
    CHECK(inside.status == 1);
    CHECK(inside.err.find("no step ends: load to load") != std::string::npos);
    CHECK(analyse(scratch / "run", {"--steps", scratch / "nothing.csv"}).status == 1);
    CHECK(testing::run({program, "exposure", "--noise", "n.otf2", "--out", scratch / "r"}).status == 2);
}

TEST_CASE("steps can be the visits of a region, or last from one to the next")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    const auto analysed = [&](const char* option, const char* region, const char* out) {
        const testing::Outcome outcome = analyse(scratch / "run", {option, region, "--out", scratch / out});
        REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
        CHECK(outcome.out.find("mem ") != std::string::npos);
    };
    analysed("--step-region", "backward", "visits");
    analysed("--step-from", "step", "between");
    const auto step_ms = [&](const char* out) {
        return nlohmann::json::parse(base::read_whole(scratch / out / "verdict.json"))["quiet_step_ms"].get<double>();
    };
    CHECK(step_ms("between") == doctest::Approx(20.0).epsilon(0.05));
    CHECK(step_ms("visits") == doctest::Approx(20.0).epsilon(0.05));  // a step is the time between two visits

    // Half of the time lies between two visits, and the noise's effect does not.
    const base::CsvTable of_visits{scratch / "visits/effects.csv"};
    std::map<std::string, double> percent;
    for (std::size_t row = 0; row < of_visits.rows(); ++row)
        if (of_visits.text(row, "factor") == "mem" && of_visits.text(row, "rank") == "all")
            percent[of_visits.text(row, "phase")] = of_visits.get<double>(row, "effect_percent");
    REQUIRE(percent.contains("between_steps"));
    CHECK(percent["step"] == doctest::Approx(10.0).epsilon(0.05));
    CHECK(std::abs(percent["between_steps"]) < 0.5);

    // If a step lasts from one visit of the region `step` to the next, that region is a phase of it.
    const base::CsvTable effects{scratch / "between/effects.csv"};
    std::map<std::string, int> rows;
    for (std::size_t row = 0; row < effects.rows(); ++row)
        if (effects.text(row, "factor") == "mem" && effects.text(row, "rank") == "all")
            ++rows[effects.text(row, "phase")];
    CHECK(rows["step"] == 1);
    CHECK(rows["step (region)"] == 1);
}

TEST_CASE("a warm-up may be a time, or what is over before noise begins")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});  // steps of 20 ms
    analysis::testing::write_run(scratch / "soon", {.noise_from_s = 0.05});
    const auto left_out = [&](const char* run, const char* warm_up) {
        const std::string out = std::string{run} + warm_up;
        REQUIRE(analyse(scratch / run, {"--warmup", warm_up, "--out", scratch / out}).status == 0);
        const base::CsvTable exposure{scratch / out / "exposure.csv"};
        std::size_t count = 0;
        for (std::size_t row = 0; row < exposure.rows(); ++row)
            if (exposure.text(row, "reason") == "warm-up" && exposure.get<int>(row, "rank") == 0) ++count;
        return count;
    };
    const std::size_t in_two_seconds = left_out("run", "2s");
    CHECK(in_two_seconds > 80);
    CHECK(in_two_seconds < 105);
    const std::size_t before_noise = left_out("run", "noise");  // noise begins after 0.5 s
    CHECK(before_noise > 20);
    CHECK(before_noise < 26);
    CHECK(left_out("soon", "noise") == 10);
    CHECK(testing::run({program, "analyse", scratch / "run", "--warmup", "soon"}).status == 2);
}

TEST_CASE("an archive that OTF2's library would read for ever is refused in one line")
{
    for (const char* part : {"train/trace", "noise/here.0/trace"}) {
        const testing::Scratch scratch;
        SyntheticRun small;
        small.run_s = 2.0;
        analysis::testing::write_run(scratch / "run", small);
        const fs::path anchor = scratch / "run" / part / "traces.otf2";
        std::string bytes = base::read_whole(anchor);
        const std::size_t description = bytes.find('\0', bytes.find("crosstalk ")) + 1;  // position of an empty string
        bytes.at(description + 4) = 16;  // highest byte of the number of properties: 2^28 of them, which need 4 GiB
        base::write_whole(anchor, bytes);
        const testing::Outcome outcome = analyse(scratch / "run");
        CHECK(outcome.status == 1);
        CHECK(one_line(outcome.err));
        CHECK(outcome.err.find("interference: cannot read trace " + anchor.string() + ": ") == 0);
        CHECK_FALSE(fs::exists(scratch / "run/report"));
        if (anchor.string().find("train") == std::string::npos) continue;
        std::vector<std::string> words{program, "compare", "--out", scratch / "comparison", "--quiet", anchor};
        words.push_back(table_of_steps(scratch / "quiet.csv", 20'000'000));
        words.emplace_back("--noisy");
        for (const int ns : {21'000'000, 22'000'000})
            words.push_back(table_of_steps(scratch / (std::to_string(ns) + ".csv"), ns));
        const testing::Outcome compared = testing::run(words);
        CHECK(compared.status == 1);
        CHECK(one_line(compared.err));
        CHECK(compared.err.find("interference: cannot read trace " + anchor.string() + ": ") == 0);
        CHECK_FALSE(fs::exists(scratch / "comparison"));
    }
}
