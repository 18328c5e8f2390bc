// The program on synthetic archives: right answers, right refusals.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

using analysis::testing::SyntheticRun;

namespace {

namespace fs = std::filesystem;

const std::string program = std::string{CROSSTALK_BIN} + "/interference";

testing::Outcome analyse(const fs::path& run, const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{program, "analyse", run.string(), "--draws", "1999"};
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

nlohmann::json verdict_in(const fs::path& run)
{
    return nlohmann::json::parse(base::read_whole(run / "report/verdict.json"));
}

// What the pattern's group holds, wherever it is found.
std::vector<std::string> all_matches(const std::string& text, const std::string& pattern)
{
    const std::regex regex{pattern};
    std::vector<std::string> found;
    for (std::sregex_iterator match{text.begin(), text.end(), regex}; match != std::sregex_iterator{}; ++match)
        found.push_back((*match)[1]);
    return found;
}

bool one_line(const std::string& text)
{
    return std::count(text.begin(), text.end(), '\n') == 1;
}

}  // namespace

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

TEST_CASE("the page stands by itself")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.noise[0].label = "mem<b>&'";
    analysis::testing::write_run(scratch / "run", run);
    REQUIRE(analyse(scratch / "run").status == 0);
    const std::string page = base::read_whole(scratch / "run/report/index.html");
    CHECK(page.find("mem<b>") == std::string::npos);
    CHECK(page.find("mem&lt;b&gt;&amp;&#39;") != std::string::npos);
    CHECK(page.find("src=") == std::string::npos);
    CHECK(page.find("<link") == std::string::npos);
    CHECK(page.find("<script") == std::string::npos);
    const std::vector<std::string> links = all_matches(page, R"x(href="([^"#]+)")x");
    CHECK(links.size() >= 7);
    for (const std::string& link : links) CHECK_MESSAGE(fs::exists(scratch / "run/report" / link), link);
    if (!fs::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not there");
    for (const char* plot : {"timeline", "effects", "phases"}) {
        CHECK(fs::exists(scratch / "run/report" / (std::string{plot} + ".svg")));
        CHECK(fs::exists(scratch / "run/report" / (std::string{plot} + ".gp")));
    }
    CHECK(page.find("<svg") != std::string::npos);
}

TEST_CASE("every class that the page uses has a rule in its style sheet")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(analyse(scratch / "run").status == 0);
    const std::string page = base::read_whole(scratch / "run/report/index.html");
    const std::string style = page.substr(0, page.find("</style>"));
    std::string body = page.substr(style.size());
    for (std::size_t plot = body.find("<svg"); plot != std::string::npos; plot = body.find("<svg"))
        body.erase(plot, body.find("</svg>", plot) - plot + 6);
    std::set<std::string> classes;
    for (const std::string& words : all_matches(body, R"x(class="([^"]+)")x"))
        for (const std::string& word : base::split(words, ' ')) classes.insert(word);
    CHECK(classes.size() >= 15);
    for (const std::string& name : classes) {
        const std::regex rule{"\\." + name + "[ ,{.:]"};
        CHECK_MESSAGE(std::regex_search(style, rule), name);
    }
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

TEST_CASE("levels in percent and labels with percent signs are drawn")
{
    if (!fs::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not there");
    const testing::Scratch scratch;
    SyntheticRun run;
    run.run_s = 6.0;
    run.noise[0].label = "mem%d%s";
    run.noise[0].level = "duty=30%";
    run.noise.push_back(run.noise[0]);
    run.noise.back().level = "duty=60%";
    analysis::testing::write_run(scratch / "run", run);
    const testing::Outcome outcome = analyse(scratch / "run");
    INFO(outcome.err);
    CHECK(outcome.err.empty());
    for (const char* plot : {"timeline.svg", "effects.svg", "phases.svg"})
        CHECK(base::read_whole(scratch / "run/report" / plot).find("</svg>") != std::string::npos);
    CHECK(base::read_whole(scratch / "run/report/effects.svg").find("duty=60%]<") != std::string::npos);
}

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
    // That noise did not cover the training comes first.
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

TEST_CASE("what the page shows is in tables and in verdict.json with who and where")
{
    const testing::Scratch scratch;
    SyntheticRun run;
    run.noise[0].percent = 0.9;
    run.deviation = 0.05;
    run.run_s = 24.0;
    analysis::testing::write_run(scratch / "run", run);
    base::write_whole(scratch / "run/train/run.json",
                      R"({"host": "node1", "started": "2026-11-21T05:44:58Z", "training": {"model": "mlp"}})");
    base::write_whole(scratch / "run/noise/here.0/noise.json",
                      R"({"host": "node1", "factor_levels": [{"factor": "mem", "bytes_per_s": 1000.0, "slots": 7}]})");
    REQUIRE(analyse(scratch / "run", {"--again", "again {seconds}"}).status == 0);
    const fs::path report = scratch / "run/report";
    const nlohmann::json verdict = verdict_in(scratch / "run");
    CHECK(verdict["identity"]["model"] == "mlp");
    CHECK(verdict["identity"]["ranks"] == 2);
    CHECK(verdict["identity"]["started"] == "2026-11-21T05:44:58Z");
    const nlohmann::json& mem = verdict["factors"]["mem"];
    REQUIRE(mem["verdict"] == "undecided");
    CHECK(mem["forecast"]["minutes"] == mem["minutes_missing"]);
    CHECK(mem["forecast"]["half_width_percent"].get<double>() < mem["half_width_percent"].get<double>());
    CHECK(mem["forecast"]["command"].get<std::string>().starts_with("again "));
    CHECK(mem["measures"].contains("critical_compute"));
    CHECK(mem["phases"].contains("backward"));

    const base::CsvTable verdicts{report / "verdicts.csv"};
    CHECK(verdicts.rows() == 1);
    CHECK(verdicts.text(0, "model") == "mlp");
    CHECK(verdicts.text(0, "verdict") == "undecided");
    const base::CsvTable measures{report / "measures.csv"};
    std::set<std::string> names;
    for (std::size_t row = 0; row < measures.rows(); ++row) names.insert(measures.text(row, "measure"));
    for (const char* name : {"critical_compute", "exposed_transfer", "waiting", "ready rank 1", "median step"})
        CHECK(names.contains(name));
    CHECK(base::CsvTable{report / "outliers.csv"}.text(0, "factor") == "quiet");
    CHECK(base::CsvTable{report / "factor_levels.csv"}.get<double>(0, "bytes_per_s") == 1000.0);
    const std::string page = base::read_whole(report / "index.html");
    CHECK(page.find("<title>Crosstalk: mlp, 2 ranks") != std::string::npos);
    CHECK(page.find("a new run of ") != std::string::npos);
    CHECK(nlohmann::json::parse(base::read_whole(report / "summary.json")) ==
          nlohmann::json::parse(R"({"trustworthy": true, "covered": true, "verdicts": {"mem": "undecided"}})"));
}

TEST_CASE("a record of another run is not shown and that is said")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.run_s = 6.0});
    base::write_whole(scratch / "run/train/run.json", R"({"host": "another-node", "result": {"steps": 7}})");
    base::write_whole(scratch / "run/noise/here.0/noise.json", R"({"host": "another-node", "schedule": "M2S2"})");
    REQUIRE(analyse(scratch / "run").status == 0);
    const std::string page = base::read_whole(scratch / "run/report/index.html");
    CHECK(page.find("another-node") == std::string::npos);
    CHECK(page.find("is of another run") != std::string::npos);
    CHECK(verdict_in(scratch / "run")["notes"].size() == 2);
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
    refused({.missed_slots = 12}, "no slots in common");
}

TEST_CASE("noise that was assigned but did not run is exit code 3")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {.achieved = 0.5});
    const testing::Outcome outcome = analyse(scratch / "run");
    CHECK(outcome.status == 3);
    CHECK(outcome.out.find("really ran in only 50 %") != std::string::npos);
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

    // All events of a rank are missing: that is no job of one rank less.
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

namespace {

// Steps of two ranks; returns the file's name.
std::string table_of_steps(const fs::path& file, int step_ns)
{
    base::CsvWriter table{file, {"rank", "step", "begin_ns", "end_ns", "backward_ns"}};
    for (int step = 0; step < 60; ++step)
        for (int rank = 0; rank < 2; ++rank)
            table.row(rank, step, step * 30'000'000, step * 30'000'000 + step_ns, 12'000'000);
    return file.string();
}

}  // namespace

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
    CHECK(fs::exists(scratch / "comparison/index.html"));
    CHECK(testing::run(words).status == 2);

    const testing::Outcome twice =
        testing::run({program, "compare", "--out", scratch / "twice", "--quiet", scratch / "quiet1",
                      scratch / "./quiet1", "--noisy", words.back(), scratch / "noisy0.csv"});
    CHECK(twice.status == 2);
    CHECK(twice.err.find("are the same run") != std::string::npos);
}

namespace {

// Of a synthetic run the steps, as a program that was never heard of here would write them.
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

TEST_CASE("a table of another clock or beside an archive's choice of steps is refused in one line")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    std::ofstream{scratch / "early.csv"} << "rank,step,begin_ns,end_ns\n0,0,10,20\n0,1,20,30\n";
    const testing::Outcome early = analyse(scratch / "run", {"--steps", scratch / "early.csv"});
    CHECK(early.status == 1);
    CHECK(early.err.find("is it CLOCK_MONOTONIC") != std::string::npos);
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
    CHECK(step_ms("visits") == doctest::Approx(10.0).epsilon(0.05));
}

TEST_CASE("a warm-up may be a time")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});  // steps of 20 ms
    REQUIRE(analyse(scratch / "run", {"--warmup", "2s"}).status == 0);
    const base::CsvTable exposure{scratch / "run/report/exposure.csv"};
    std::size_t left_out = 0;
    for (std::size_t row = 0; row < exposure.rows(); ++row)
        if (exposure.text(row, "reason") == "warm-up" && exposure.get<int>(row, "rank") == 0) ++left_out;
    CHECK(left_out > 80);
    CHECK(left_out < 105);
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
        const std::size_t description = bytes.find('\0', bytes.find("crosstalk ")) + 1;  // an empty string
        bytes.at(description + 4) = 16;  // the highest byte of the number of properties: 2^28, in 4 GiB
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
