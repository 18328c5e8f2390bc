// SPDX-License-Identifier: Apache-2.0
// Tests of a report's page: its content, and that it needs no other file.
#include "base/contract/phases.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/markup.hpp"
#include "base/words.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <regex>
#include <set>

using analysis::testing::SyntheticRun;
namespace fs = std::filesystem;
using testing::analyse;
using testing::verdict_in;

namespace {

// The text of the pattern's group, for each match.
std::vector<std::string> all_matches(const std::string& text, const std::string& pattern)
{
    const std::regex regex{pattern};
    std::vector<std::string> found;
    for (std::sregex_iterator match{text.begin(), text.end(), regex}; match != std::sregex_iterator{}; ++match)
        found.push_back((*match)[1]);
    return found;
}

// Writes the archive of one rank. Each step has every phase of the contract, those of controls only in their slots;
// each takes 2 ms, and 2.2 ms under the noise `mem`.
void write_training_with_all_phases(const fs::path& folder, const SyntheticRun& run)
{
    otf2::Recorder recorder{folder};
    training::PhaseClock clock{recorder, recorder.location("main"), nullptr};
    const auto slots = analysis::testing::detail::plan(run);
    base::Random random{run.seed};
    std::int64_t time_ns = analysis::testing::detail::start_ns;
    const std::int64_t end_ns = time_ns + static_cast<std::int64_t>(run.run_s * 1e9);
    for (std::uint64_t step = 0; time_ns < end_ns; ++step) {
        const auto on = analysis::testing::detail::noise_at(run, slots, time_ns);
        const base::Role role = on.empty() ? base::Role::treatment : on.front()->role;
        clock.begin_step(step, time_ns);
        for (const base::PhaseCard& phase : base::phase_cards) {
            const bool asked_for = phase.phase != base::TrainingPhase::control_delay || role == base::Role::delay;
            if (phase.part == base::PhasePart::control && !(base::acts_on_whole_steps(role) && asked_for)) continue;
            if (phase.phase == base::TrainingPhase::other)
                clock.leave(time_ns);
            else
                clock.enter(phase.phase, time_ns);
            time_ns += (!on.empty() && on.front()->label == "mem" ? 2'200'000 : 2'000'000) +
                       static_cast<std::int64_t>(20'000.0 * base::draw_unit(random));
        }
        clock.end_step(time_ns);
    }
    recorder.finish();
}

// The words of a column, each once.
std::set<std::string> words_of(const fs::path& file, const std::string& column)
{
    const base::CsvTable table{file};
    std::set<std::string> words;
    for (std::size_t row = 0; row < table.rows(); ++row) words.insert(table.text(row, column));
    return words;
}

}  // namespace

TEST_CASE("every phase of the contract is wherever phases are shown")
{
    const testing::Scratch scratch;
    const SyntheticRun run;
    const std::string archive = scratch / "run/train/trace/traces.otf2";
    fs::create_directories(scratch / "run/train");
    fs::create_directories(scratch / "run/noise/here.0");
    write_training_with_all_phases(scratch / "run/train/trace", run);
    analysis::testing::write_noise(scratch / "run/noise/here.0/trace", run);
    const std::string tools = CROSSTALK_BIN;
    const testing::Outcome steps = testing::run({tools + "/trace-steps", archive, "-o", scratch / "steps"});
    REQUIRE_MESSAGE(steps.status == 0, steps.err);
    const testing::Outcome waits = testing::run({tools + "/trace-waits", archive, "-o", scratch / "waits"});
    REQUIRE_MESSAGE(waits.status == 0, waits.err);
    const testing::Outcome report = analyse(scratch / "run");
    REQUIRE_MESSAGE(report.status == 0, report.err);
    const std::set<std::string> columns = [&] {
        const base::CsvTable table{scratch / "steps/steps.csv"};
        return std::set<std::string>(table.columns().begin(), table.columns().end());
    }();
    const std::set<std::string> regions = words_of(scratch / "waits/phases.csv", "region");
    const fs::path folder = scratch / "run/report";
    const std::string page = base::read_whole(folder / "index.html");
    const nlohmann::json effects = verdict_in(scratch / "run")["factors"]["mem"]["phases"];
    for (const base::PhaseCard& phase : base::phase_cards) {
        const std::string name{phase.name};
        CAPTURE(name);
        CHECK(columns.contains(name + "_ns"));
        CHECK(steps.out.find("\n" + name + " ") != std::string::npos);
        if (phase.phase != base::TrainingPhase::other) CHECK(regions.contains(name));
        for (const char* table : {"effects.csv", "phases_effects.csv", "phases_over_time.csv"})
            CHECK_MESSAGE(words_of(folder / table, "phase").contains(name), table);
        CHECK(effects.contains(name));
        CHECK(page.find(base::escape_markup(phase.summary)) !=
              std::string::npos);  // in the words of the table of effects
        CHECK(page.find("--phase-" + name + ":") != std::string::npos);
        const testing::Outcome explained = testing::run({testing::program, "explain", name, "--json"});
        CHECK(nlohmann::json::parse(explained.out)["reading"] == phase.reading);
    }
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
    CHECK(page.find("<script>") != std::string::npos);  // sorts tables, and fetches nothing
    for (const char* fetching : {"fetch(", "XMLHttpRequest", "import(", "@import", "url("})
        CHECK_MESSAGE(page.find(fetching) == std::string::npos, fetching);
    const std::vector<std::string> links = all_matches(page, R"x(href="([^"#]+)")x");
    CHECK(links.size() >= 7);
    for (const std::string& link : links) CHECK_MESSAGE(fs::exists(scratch / "run/report" / link), link);
    if (!fs::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not installed");
    for (const char* plot : {"timeline", "effects", "phases", "heat_map", "phases_over_time"}) {
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

TEST_CASE("levels in percent and labels with percent signs are drawn")
{
    if (!fs::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not installed");
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
                      R"({"host": "node1", "factor_levels": [{"factor": "mem", "bytes_per_s": 1000.0, "slots": 7},
                          {"factor": "starved", "bytes_per_s": 7.92e8, "operations_per_s": 9.9e5, "slots": 7,
                           "on_s": 13.96, "assigned_s": 14.0, "bytes": 800000000, "operations": 1000000}]})");
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
    const base::CsvTable levels{report / "factor_levels.csv"};
    CHECK(levels.get<double>(0, "bytes_per_s") == 1000.0);  // record of an earlier version
    // On a starved CPU, allocation took nearly all of the time, during which others waited for the noise too: 800 MB in
    // 14 seconds of its slots.
    CHECK(levels.get<double>(1, "bytes_per_s") == doctest::Approx(800e6 / 14.0));
    CHECK(levels.get<double>(1, "operations_per_s") == doctest::Approx(1e6 / 14.0));
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

TEST_CASE("a report that is there is printed again, and not made anew")
{
    const testing::Scratch scratch;
    const std::string run = scratch / "run";
    analysis::testing::write_run(run, {});
    const testing::Outcome made = analyse(run);
    REQUIRE_MESSAGE(made.status == 0, made.err);
    fs::remove_all(fs::path{run} / "train");  // nothing is left to analyse
    const auto printed = [&](const char* format) {
        const testing::Outcome outcome = testing::run({testing::program, "analyse", run, "--format", format});
        CHECK_MESSAGE(outcome.status == 0, outcome.err);
        return outcome.out;
    };
    CHECK(printed("text") == made.out);
    CHECK(printed("html") == base::read_whole(fs::path{run} / "report/index.html"));
    CHECK(printed("md").find("### What may run beside this training") != std::string::npos);
    CHECK(nlohmann::json::parse(printed("json")).contains("verdicts"));
    const testing::Outcome other = testing::run({testing::program, "analyse", run, "--format", "md", "--budget", "5"});
    CHECK(other.status == 2);
    CHECK(other.err.find("--out DIR makes another one") != std::string::npos);
}
