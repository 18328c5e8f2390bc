// SPDX-License-Identifier: Apache-2.0
// interference on synthetic archives: its answers and refusals.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

using analysis::testing::SyntheticRun;
namespace fs = std::filesystem;
using testing::analyse;
using testing::one_line;
using testing::verdict_in;

TEST_CASE("a run directory gives a report with the true answers")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    const testing::Outcome outcome = analyse(scratch / "run");
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.starts_with("TRUSTWORTHY"));
    CHECK(outcome.out.find("mem ") != std::string::npos);

    const nlohmann::json verdict = verdict_in(scratch / "run");
    CHECK(verdict["trustworthy"] == true);
    CHECK(verdict["reasons"].empty());
    CHECK(verdict["budget_percent"] == 1.0);
    CHECK(verdict["quiet_step_ms"].get<double>() == doctest::Approx(20.0).epsilon(0.03));
    const nlohmann::json& delay = verdict["controls"]["delay"];
    CHECK(delay["true_percent"].get<double>() == doctest::Approx(5.0).epsilon(0.05));
    CHECK(delay["low_percent"].get<double>() < delay["true_percent"].get<double>());
    CHECK(delay["high_percent"].get<double>() > delay["true_percent"].get<double>());
    const nlohmann::json& sham = verdict["controls"]["sham"];
    CHECK(sham["effect_percent"].get<double>() == doctest::Approx(4.0).epsilon(0.1));
    CHECK(verdict["controls"]["pause"].is_null());
    const nlohmann::json& mem = verdict["factors"]["mem"];
    CHECK(mem["verdict"] == "unsafe");
    CHECK(mem["effect_percent"].get<double>() == doctest::Approx(10.0).epsilon(0.05));
    CHECK(mem["phase"] == "backward");
    CHECK(mem["cause"].get<std::string>().find("on both ranks") != std::string::npos);
    CHECK(mem["minutes_missing"] == 0.0);
    CHECK_FALSE(verdict["factors"].contains("placebo"));
}

TEST_CASE("the tables have the columns that were promised")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(analyse(scratch / "run").status == 0);
    const base::CsvTable effects{scratch / "run/report/effects.csv"};
    const std::vector<std::string> promised{"factor",         "level",       "phase",        "rank",   "kind",
                                            "effect_percent", "low_percent", "high_percent", "p_holm", "steps"};
    REQUIRE(effects.columns().size() >= promised.size());
    CHECK(std::equal(promised.begin(), promised.end(), effects.columns().begin()));
    const base::CsvTable exposure{scratch / "run/report/exposure.csv"};
    const std::vector<std::string> expected{"rank", "step",          "block",        "used",   "reason",
                                            "mem",  "control.delay", "control.sham", "placebo"};
    CHECK(exposure.columns() == expected);
    CHECK(exposure.text(0, "reason") == "warm-up");

    double sum = 0.0;
    double step = 0.0;
    for (std::size_t row = 0; row < effects.rows(); ++row) {
        if (effects.text(row, "factor") != "mem" || effects.text(row, "rank") != "all") continue;
        (effects.text(row, "phase") == "step" ? step : sum) += effects.get<double>(row, "effect_percent");
    }
    CHECK(sum == doctest::Approx(step).epsilon(1e-6));
    CHECK(step == doctest::Approx(10.0).epsilon(0.05));
}

TEST_CASE("the slow rank is named and not the one that waits")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.noise[0].rank = 1;
    analysis::testing::write_run(scratch / "run", run);
    REQUIRE(analyse(scratch / "run").status == 0);
    const std::string cause = verdict_in(scratch / "run")["factors"]["mem"]["cause"];
    CHECK(cause.find("on rank 1") != std::string::npos);
}

TEST_CASE("slow transfer is told from slow work")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.noise[0] = {"net", "network.exchange", "transfer", 8.0, -1};
    analysis::testing::write_run(scratch / "run", run);
    REQUIRE(analyse(scratch / "run").status == 0);
    const nlohmann::json net = verdict_in(scratch / "run")["factors"]["net"];
    CHECK(net["phase"] == "wait_exchange");
    CHECK(net["cause"].get<std::string>().find("Exchanging gradients took longer") != std::string::npos);
}

TEST_CASE("each level of a factor has an effect of its own and the worst one decides")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.noise[0] = {"mem", "memory.stream", "backward", 10.0, -1, "rate=8GiB/s"};
    run.noise.insert(run.noise.begin(), {"mem", "memory.stream", "backward", 4.0, -1, "rate=4GiB/s"});
    analysis::testing::write_run(scratch / "run", run);
    REQUIRE(analyse(scratch / "run").status == 0);

    const nlohmann::json mem = verdict_in(scratch / "run")["factors"]["mem"];
    CHECK(mem["verdict"] == "unsafe");
    CHECK(mem["effect_percent"].get<double>() == doctest::Approx(10.0).epsilon(0.05));
    CHECK(mem["levels"]["rate=4GiB/s"]["effect_percent"].get<double>() == doctest::Approx(4.0).epsilon(0.1));
    CHECK(mem["levels"]["rate=8GiB/s"]["effect_percent"].get<double>() == doctest::Approx(10.0).epsilon(0.05));

    const base::CsvTable exposure{scratch / "run/report/exposure.csv"};
    CHECK(std::count(exposure.columns().begin(), exposure.columns().end(), "mem") == 1);
    const base::CsvTable effects{scratch / "run/report/effects.csv"};
    std::set<std::string> levels;
    for (std::size_t row = 0; row < effects.rows(); ++row)
        if (effects.text(row, "factor") == "mem") levels.insert(effects.text(row, "level"));
    CHECK(levels == std::set<std::string>{"rate=4GiB/s", "rate=8GiB/s"});
}

TEST_CASE("a factorial run gives effects alone and on average and the interaction")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.design = "factorial";
    run.noise.insert(run.noise.begin() + 1, {"io", "io.write", "load", 4.0, -1});
    run.interaction_phase = "backward";
    run.interaction_percent = 6.0;
    run.run_s = 20.0;
    analysis::testing::write_run(scratch / "run", run);
    const testing::Outcome outcome = analyse(scratch / "run");
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);

    const base::CsvTable effects{scratch / "run/report/effects.csv"};
    const auto effect = [&](const std::string& factor, const std::string& kind) {
        for (std::size_t row = 0; row < effects.rows(); ++row)
            if (effects.text(row, "factor") == factor && effects.text(row, "kind") == kind &&
                effects.text(row, "phase") == "step" && effects.text(row, "rank") == "all")
                return effects.get<double>(row, "effect_percent");
        return -1000.0;
    };
    CHECK(effect("mem", "alone") == doctest::Approx(10.0).epsilon(0.05));
    CHECK(effect("io", "alone") == doctest::Approx(4.0).epsilon(0.1));
    CHECK(effect("mem", "average") == doctest::Approx(13.0).epsilon(0.05));
    CHECK(effect("io", "average") == doctest::Approx(7.0).epsilon(0.1));
    CHECK(effect("io*mem", "interaction") == doctest::Approx(6.0).epsilon(0.15));
    CHECK(verdict_in(scratch / "run")["trustworthy"] == true);
}

TEST_CASE("a ramp's levels stand in the order of their rates and its report says that the order was not random")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.design = "sequence";
    run.noise.clear();
    for (const auto& [level, percent] :
         {std::pair{"rate=16GiB/s", 9.0}, std::pair{"rate=1GiB/s", 1.0}, std::pair{"rate=4GiB/s", 4.0}})
        run.noise.push_back({"memory.stream", "memory.stream", "backward", percent, -1, level});
    analysis::testing::write_run(scratch / "run", run);
    const testing::Outcome outcome = analyse(scratch / "run");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const auto verdict = nlohmann::ordered_json::parse(base::read_whole(scratch / "run/report/verdict.json"));
    std::vector<std::string> levels;
    for (const auto& [level, of] : verdict["factors"]["memory.stream"]["levels"].items()) {
        levels.push_back(level);
        CHECK(of["low_percent"].get<double>() > 0.0);
    }
    CHECK(levels == std::vector<std::string>{"rate=1GiB/s", "rate=4GiB/s", "rate=16GiB/s"});
    CHECK(verdict["limits"].dump().find("was not random") != std::string::npos);
}

TEST_CASE("a report that is unsafe, undecided or untrusted fails if that is asked for")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    const std::string report = scratch / "run/report";
    const auto status = [&](const std::string& words) {
        fs::remove_all(report);
        return analyse(scratch / "run", {"--fail-on", words}).status;
    };
    CHECK(status("unsafe") == 1);
    CHECK(status("undecided,unsafe") == 1);
    CHECK(status("undecided,untrusted") == 0);
    const testing::Outcome wrong = analyse(scratch / "run", {"--fail-on", "unsave"});
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("did you mean unsafe") != std::string::npos);

    analysis::testing::write_run(scratch / "untrusted", {.connected = false});
    const testing::Outcome untrusted = analyse(scratch / "untrusted", {"--fail-on", "untrusted"});
    CHECK(untrusted.status == 1);
    CHECK(untrusted.err == "interference: the run is not trustworthy (--fail-on untrusted)\n");
    // The reason that noise did not cover the training comes first.
    analysis::testing::write_run(scratch / "short", {.noise_until_s = 8.0});
    CHECK(analyse(scratch / "short", {"--fail-on", "untrusted"}).status == 3);
}

TEST_CASE("a training too short for the schedule is told how long it has to be")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.slot_s = 1.0, .run_s = 4.0});
    const testing::Outcome training = analyse(scratch / "run");
    CHECK(training.status == 1);
    CHECK(one_line(training.err));
    CHECK(training.err.find("the training ended after") != std::string::npos);
    CHECK(training.err.find("s; the schedule needs at least ") != std::string::npos);
    analysis::testing::write_run(scratch / "noise", {.slot_s = 1.0, .run_s = 30.0, .noise_until_s = 4.0});
    const testing::Outcome noise = analyse(scratch / "noise");
    CHECK(noise.status == 1);
    CHECK(noise.err.find("noise ended after 4 s") != std::string::npos);
}

TEST_CASE("a report that is not trustworthy says of no noise that it is safe")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.noise[0] = {"idle", "memory.stream", "", 0.0, -1};
    run.run_s = 30.0;
    analysis::testing::write_run(scratch / "trusted", run);
    REQUIRE(analyse(scratch / "trusted").status == 0);
    CHECK(verdict_in(scratch / "trusted")["factors"]["idle"]["verdict"] == "safe");

    run.connected = false;
    analysis::testing::write_run(scratch / "run", run);
    const testing::Outcome outcome = analyse(scratch / "run");
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.starts_with("NOT TRUSTWORTHY"));
    CHECK(verdict_in(scratch / "run")["factors"]["idle"]["verdict"] != "safe");
    const std::regex safe{R"(\bsafe\b)", std::regex::icase};
    const auto around = [&](const std::string& text) {
        std::smatch match;
        if (!std::regex_search(text, match, safe)) return std::string{};
        const auto at = static_cast<std::size_t>(match.position());
        return text.substr(at < 60 ? 0 : at - 60, 120);
    };
    CHECK(around(outcome.out).empty());
    for (const char* file : {"verdict.json", "summary.json", "verdicts.csv", "index.html"}) {
        std::string text = base::read_whole(scratch / "run/report" / file);
        if (file == std::string{"index.html"}) text.erase(0, text.find("</head>"));
        CHECK_MESSAGE(around(text).empty(), file, ": ", around(text));
    }
}

TEST_CASE("the table of time adds up to the training from the first slot on, for each rank")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(analyse(scratch / "run").status == 0);
    const base::CsvTable time{scratch / "run/report/time.csv"};
    CHECK(time.columns() ==
          std::vector<std::string>{"rank", "treatment", "reason", "steps", "seconds", "share_percent"});
    std::map<int, double> seconds;
    std::map<int, double> percent;
    for (std::size_t row = 0; row < time.rows(); ++row) {
        seconds[time.get<int>(row, "rank")] += time.get<double>(row, "seconds");
        percent[time.get<int>(row, "rank")] += time.get<double>(row, "share_percent");
    }
    REQUIRE(seconds.size() == 2);
    for (const auto& [rank, sum] : seconds) {
        CHECK(sum ==
              doctest::Approx(11.5).epsilon(0.003));  // 12 s, less 0.5 s without slots and the unfinished last step
        CHECK(percent[rank] == doctest::Approx(100.0).epsilon(1e-6));
    }
    const base::CsvTable outliers{scratch / "run/report/outliers.csv"};
    CHECK(outliers.columns().back() == "unmet_one_in");
}

TEST_CASE("noise that ends early is exit code 3 and not trustworthy")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.noise_until_s = 8.0});
    const testing::Outcome outcome = analyse(scratch / "run");
    CHECK(outcome.status == 3);
    CHECK(outcome.out.starts_with("NOT TRUSTWORTHY"));
    CHECK(verdict_in(scratch / "run")["covered"] == false);
    CHECK(outcome.out.find("noise covered only") != std::string::npos);
    CHECK(base::read_whole(scratch / "run/report/index.html").find("Not trustworthy") != std::string::npos);
}

TEST_CASE("the time in which noise starts counts for nothing, but ten seconds of it at most")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "soon", {.run_s = 20.0, .noise_from_s = 5.0});
    CHECK(analyse(scratch / "soon").status == 0);
    CHECK(verdict_in(scratch / "soon")["covered_percent"].get<double>() > 99.0);
    // Noise covers 15 s of the 20 s that count.
    analysis::testing::write_run(scratch / "late", {.run_s = 30.0, .noise_from_s = 15.0});
    CHECK(analyse(scratch / "late").status == 3);
    CHECK(verdict_in(scratch / "late")["covered_percent"].get<double>() == doctest::Approx(75.0).epsilon(0.03));
}

TEST_CASE("of noise processes that came and went at different times the slots that all had count")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    fs::create_directories(scratch / "run/noise/there.1");
    const fs::path other = scratch / "run/noise/there.1/trace";
    analysis::testing::write_noise(other, {.noise_until_s = 11.9, .missed_slots = 2});
    CHECK(analyse(scratch / "run").status == 0);
    CHECK(verdict_in(scratch / "run")["factors"]["mem"]["verdict"] == "unsafe");
    CHECK(verdict_in(scratch / "run")["covered"] == true);

    const auto refused = [&](const SyntheticRun& noise, const std::string& words) {
        fs::remove_all(other);
        fs::remove_all(scratch / "run/report");
        analysis::testing::write_noise(other, noise);
        const testing::Outcome outcome = analyse(scratch / "run");
        INFO(outcome.err);
        CHECK(outcome.status == 1);
        CHECK(one_line(outcome.err));
        CHECK(outcome.err.find(words) != std::string::npos);
    };
    refused({.missed_slots = 2, .seed = 2}, "ent schedules (block 0, slot 2): not the noise of one run");
    fs::remove_all(scratch / "run/noise/here.0/trace");
    analysis::testing::write_noise(scratch / "run/noise/here.0/trace", {.noise_until_s = 2.0});
    refused({.missed_slots = 12}, "no common slots");
}

TEST_CASE("noise that was assigned but did not run is exit code 3")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.achieved = 0.5});
    const testing::Outcome outcome = analyse(scratch / "run");
    CHECK(outcome.status == 3);
    CHECK(outcome.out.find("actually ran for only 50 %") != std::string::npos);
}

TEST_CASE("a control that the training did not obey is not connected")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.connected = false});
    const testing::Outcome outcome = analyse(scratch / "run");
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("not connected") != std::string::npos);
}

TEST_CASE("a fixed sequence is analysed and says that its order was not random")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.design = "sequence"});
    const testing::Outcome outcome = analyse(scratch / "run");
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("was not random") != std::string::npos);
    CHECK(verdict_in(scratch / "run")["order_randomised"] == false);
}
