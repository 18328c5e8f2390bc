// SPDX-License-Identifier: Apache-2.0
// Tests of writers: HTML is escaped, numbers are easy to read.
#include "analysis/conclude/verdict.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/results/identity.hpp"
#include "analysis/results/limits.hpp"
#include "analysis/results/next_run.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/plots/plots.hpp"
#include "analysis/results/verdict_text.hpp"
#include "base/error.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

TEST_CASE("HTML from outside is escaped")
{
    CHECK(analysis::escape("<script>alert(\"1\" & '2')</script>\n") ==
          "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt; ");
    const std::string table = analysis::table({"<a>"}, {{analysis::words("<b>")}});
    CHECK(table.find("<a>") == std::string::npos);
    CHECK(table.find("<b>") == std::string::npos);
    CHECK(table.find("&lt;b&gt;") != std::string::npos);
}

TEST_CASE("negative numbers of a page have a minus sign and commands keep their hyphens")
{
    CHECK(base::page::typeset("<td>-0.2 to 1 (-3 %)</td>") == "<td>\u22120.2 to 1 (\u22123\u00a0%)</td>");
    CHECK(base::page::typeset("2026-11-23, CPUs 0-3") == "2026-11-23, CPUs 0-3");
    CHECK(base::page::typeset("<code>mpirun -2</code> -2") == "<code>mpirun -2</code> \u22122");
    CHECK(base::page::typeset("not --cpu-bind, (--mem)") ==
          "not <span class=\"option\">--cpu-bind</span>, (<span class=\"option\">--mem</span>)");
    CHECK(base::page::typeset("run --mem") == "run <span class=\"option\">--mem</span>");
    CHECK(base::page::typeset("<p style=\"margin: -2px\">") == "<p style=\"margin: -2px\">");
}

TEST_CASE("the first line of a page is the answer")
{
    analysis::Report report;
    report.verdict.factors.resize(3);
    report.verdict.factors[0].factor = "mem";
    report.verdict.factors[0].verdict = "safe";
    report.verdict.factors[1].factor = "io";
    report.verdict.factors[1].level = "rate=4GiB/s";
    report.verdict.factors[1].verdict = "unsafe";
    report.verdict.factors[2].factor = "net";
    report.verdict.factors[2].verdict = "unsafe";
    CHECK(analysis::headline(report) == "Unsafe: io[rate=4GiB/s], net; safe: mem");
    report.verdict.trustworthy = false;
    CHECK(analysis::headline(report) == "No verdict: this run is not trustworthy");
}

TEST_CASE("an open noise says how long its blocks lasted, without the warm-up")
{
    analysis::Report report;
    report.verdict.run_minutes = 2.0;
    report.analysis.blocks = 9;
    report.analysis.blocks_s = 54.0;
    analysis::FactorVerdict& noise = report.verdict.factors.emplace_back();
    noise.verdict = "undecided";
    noise.why = "the budget lies in the interval";
    noise.interval = {-1.0, 3.0};
    CHECK(analysis::next_run(report).outlooks.at(0) ==
          "the budget lies in the interval; 54 s gave ± 2.00 points; no forecast from 9 blocks");
}

namespace {

using nlohmann::ordered_json;

// A report with slots of one second, twelve blocks, and these records.
analysis::Report report_with(const ordered_json& training, const ordered_json& noise)
{
    analysis::Report report;
    std::vector<analysis::Slot> slots;
    for (int i = 0; i < 10; ++i)
        slots.push_back({i / 2, i * 1'000'000'000LL, (i + 1) * 1'000'000'000LL,
                         i % 2 == 0 ? std::vector<analysis::Assigned>{}
                                    : std::vector<analysis::Assigned>{{"mem", "", "memory.stream"}}});
    report.run.slots = {slots};
    report.run.plan = analysis::experiment(analysis::Design::rotation, slots);
    report.run.steps.ranks.resize(2);
    report.analysis.blocks = 12;
    report.records = {{"training", "train", training}, {"noise", "noise", noise}};
    return report;
}

// Adds steps of one second.
void add_steps(analysis::Report& report, int steps)
{
    for (analysis::RankSteps& rank : report.run.steps.ranks)
        for (int i = 0; i < steps; ++i) {
            rank.begin_ns.push_back(i * 1'000'000'000LL);
            rank.end_ns.push_back((i + 1) * 1'000'000'000LL);
        }
}

ordered_json training_on(const std::string& first, const std::string& second)
{
    ordered_json json;
    json["command_line"] = {"ddl-train", "--model", "mlp", "--steps", "9", "--duration=5s", "--out", "old dir"};
    json["host"] = "node1";
    json["ranks"] = 2;
    json["virtual_machine"] = "";
    json["result"]["each_rank"] = {{{"host", "node1"}, {"cpus", first}}, {{"host", "node1"}, {"cpus", second}}};
    return json;
}

ordered_json noise_on(const std::string& cpus, int online)
{
    ordered_json json;
    json["command_line"] = {"noisegen", "--schedule", "rotation(a; slot=1s)", "--out", "old dir"};
    json["host"] = "node1";
    json["cpus"] = cpus;
    json["cpus_online"] = online;
    return json;
}

bool any_says(const std::vector<std::string>& limits, const std::string& words)
{
    return std::any_of(limits.begin(), limits.end(),
                       [&](const std::string& limit) { return limit.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("ranks that share a core are said and ranks that do not are not")
{
    CHECK(any_says(analysis::limits(report_with(training_on("0", "0"), noise_on("1-7", 8))),
                   "ranks 0, 1 share one CPU of node1"));
    CHECK(any_says(analysis::limits(report_with(training_on("0-1", "0-1"), noise_on("2-7", 8))), "not bound"));
    CHECK(analysis::limits(report_with(training_on("0", "1"), noise_on("2-7", 8))).empty());
}

TEST_CASE("noise that goes on long after the last step may be beside a training that hangs")
{
    // The slots last ten seconds in total.
    const auto said = [](int steps, const ordered_json& result) {
        ordered_json training = training_on("0", "1");
        training["result"] = result;
        analysis::Report report = report_with(training, noise_on("2-7", 8));
        add_steps(report, steps);
        return analysis::recorded_faults(report).insensitive;
    };
    REQUIRE(said(5, ordered_json::object()).size() == 1);
    CHECK(said(5, ordered_json::object()).front().find("noise continued for 5.0 s after the last step") == 0);
    CHECK(said(5, {{"ended_by", "signal"}}).size() == 1);
    CHECK(said(5, {{"ended_by", "duration"}}).empty());
    CHECK(said(8, ordered_json::object()).empty());  // noise lasts 2 s longer; programs take a moment to end
}

TEST_CASE("a virtual machine and noise on few cores or on the training's are said")
{
    ordered_json training = training_on("0", "1");
    CHECK(any_says(analysis::limits(report_with(training, noise_on("2", 8))),
                   "noise came from 1 core of node1 (CPU 2; it has 8)"));
    CHECK(any_says(analysis::limits(report_with(training, noise_on("1-7", 8))),
                   "CPUs of the training itself (1 of node1)"));
    training["virtual_machine"] = "QEMU";
    CHECK(any_says(analysis::limits(report_with(training, noise_on("2-7", 8))), "node1 is a virtual machine (QEMU)"));
}

TEST_CASE("noise that others kept from its CPUs or that did less than it was asked for is said")
{
    const auto limits_with = [](const ordered_json& level, bool shared = false) {
        ordered_json noise = noise_on("2-7", 8);
        noise["shared_on_purpose"] = shared;
        noise["factor_levels"] = {level};
        return analysis::limits(report_with(training_on("0", "1"), noise));
    };
    // The level was on for ten seconds on each of six CPUs.
    ordered_json level{{"factor", "mem"}, {"level", "rate=16GiB/s"}, {"cpus", 6},           {"on_s", 10.0},
                       {"reached", 1.0},  {"waited_s", 3.0},         {"rate_reached", true}};
    CHECK(limits_with(level).empty());
    level["waited_s"] = 15.0;
    CHECK(any_says(limits_with(level),
                   "other processes used the noise's CPUs of node1 for 25 % of the time of mem[rate=16GiB/s]"));
    CHECK(limits_with(level, true).empty());
    level["waited_s"] = 0.0;
    level["reached"] = 0.05;
    level["rate_reached"] = false;
    CHECK(any_says(limits_with(level), "mem[rate=16GiB/s] did 5 % of its rate on node1"));
}

TEST_CASE("a neighbour whose job ended before the run is not called safe")
{
    const auto lacked_with = [](bool ended) {
        ordered_json noise = noise_on("2-7", 8);
        noise["factor_levels"] = {
            {{"factor", "sweep"}, {"level", ""}, {"cpus", 6}, {"on_s", 10.0}, {"job_ended", ended}}};
        analysis::Report report = report_with(training_on("0", "1"), noise);
        add_steps(report, 10);
        return analysis::recorded_faults(report).lacked;
    };
    CHECK(lacked_with(false).empty());
    CHECK(lacked_with(true).at({"sweep", ""}) == "its job ended before the run did on node1");
}

TEST_CASE("noise that stood still for a tenth of its time did not cover the training")
{
    ordered_json noise = noise_on("2-7", 8);
    noise["lateness_ns"]["worst"] = 999'000'000;
    analysis::Report report = report_with(training_on("0", "1"), noise);
    add_steps(report, 10);
    CHECK(analysis::recorded_faults(report).promises_broken.empty());
    CHECK(any_says(analysis::limits(report), "began up to 1.00 s late"));
    noise["lateness_ns"]["worst"] = 1'000'000'000;
    report = report_with(training_on("0", "1"), noise);
    add_steps(report, 10);
    CHECK(any_says(analysis::recorded_faults(report).promises_broken, "was stopped for more than a tenth"));
}

TEST_CASE("records of any shape limit nothing and break nothing")
{
    for (const char* text : {"{}", "[]", "null", "{\"result\": {\"each_rank\": [1, {\"cpus\": \"9-\"}]}}",
                             "{\"cpus\": 3, \"placement\": {}, \"lateness_ns\": []}"}) {
        CAPTURE(text);
        const ordered_json json = ordered_json::parse(text);
        CHECK(analysis::limits(report_with(json, json)).empty());
        CHECK(analysis::command_for(report_with(json, json), 3.0).find('\n') == std::string::npos);
    }
}

TEST_CASE("a record with more CPUs or ranks than any machine has is not compared set by set")
{
    const auto shares = [](const ordered_json& training) {
        return any_says(analysis::limits(report_with(training, noise_on("2-7", 100'000))), "ranks");
    };
    CHECK_FALSE(shares(training_on("0-99999", "0-99999")));
    std::string list = "0";
    for (int i = 0; i < 3000; ++i) list += ",0";
    CHECK_FALSE(shares(training_on(list, list)));
    const auto each_on_two = [](int ranks, int cpus) {
        ordered_json training = training_on("0", "0");
        ordered_json& each = training["result"]["each_rank"];
        each.clear();
        for (int r = 0; r < ranks; ++r)
            each.push_back({{"host", "node1"}, {"cpus", base::join(r % cpus, "-", r % cpus + 1)}});
        return training;
    };
    CHECK(shares(each_on_two(200, 200)));
    CHECK_FALSE(shares(each_on_two(20'000, 4000)));
}

TEST_CASE("the command to measure anew has the length and what a shell would take apart in quotes")
{
    analysis::Report report = report_with(training_on("0", "1"), noise_on("2-7", 8));
    CHECK(
        analysis::command_for(report, 13.2) ==
        "mpirun -n 2 --bind-to none ddl-train --model mlp --duration 840s --out NEW_DIR & sleep 5; noisegen --schedule "
        "'rotation(a; slot=1s)' --out NEW_DIR --duration 1440s & wait %1; kill %2; wait; interference analyse NEW_DIR");
    report.again = "local.sh --duration {seconds}";
    CHECK(analysis::command_for(report, 13.2) == "local.sh --duration 840");
}

TEST_CASE("a shell takes the command to measure anew word for word")
{
    ordered_json noise = noise_on("2-7", 8);
    noise["command_line"][2] = "rotation(a; label='$(id) \"x\"' > y)";
    const std::string command = analysis::command_for(report_with(training_on("0", "1"), noise), 3.0);
    const std::string say = "(){ printf '<%s>' \"$@\"; }; ";
    const testing::Outcome outcome =
        testing::run({"bash", "-c",
                      "mpirun" + say + "noisegen" + say + "interference" + say +
                          "sleep(){ :; }; kill(){ :; }; wait(){ builtin wait; }; " + command});
    INFO(outcome.out, outcome.err);
    CHECK(outcome.out.find("<--schedule><rotation(a; label='$(id) \"x\"' > y)><--out><NEW_DIR><--duration><780s>") !=
          std::string::npos);
}

TEST_CASE("a kind of noise has the same colour in every report, on light and on dark ground")
{
    CHECK(analysis::colour("memory.stream", 0).light == "#0072b2");
    CHECK(analysis::colour("memory.chase", 0).dark == "#56b4e9");
    CHECK(analysis::colour("io.write", 0).variable == "--io-0");
    CHECK(analysis::colour("gpu.copy", 0).variable == "--gpu-0");
    CHECK(analysis::colour("of.somebody", 0).variable == "--other-0");
    const auto report_of = [](const std::vector<std::string>& stressors) {
        std::vector<analysis::Slot> slots{{0, 0, 1, {}}};
        for (const std::string& stressor : stressors)
            slots.push_back({0, 0, 1, {{"label of " + stressor, "", stressor}}});
        return analysis::colours(analysis::experiment(analysis::Design::rotation, slots));
    };
    for (const analysis::Colour& one : report_of({"io.write", "io.read"})) CHECK(one.variable.starts_with("--io-"));
    CHECK(report_of({"io.write", "io.read"})[0].light != report_of({"io.write", "io.read"})[1].light);
    CHECK(report_of({"memory.stream"})[0].light == "#0072b2");
    CHECK(base::page::with_variables("<path stroke='rgb(  0, 114, 178)'/><path fill='rgb(1, 2, 3)'/>") ==
          "<path stroke='var(--memory-0)'/><path fill='rgb(1, 2, 3)'/>");
}

TEST_CASE("a head line says who and where")
{
    analysis::Report report = report_with(training_on("0", "1"), noise_on("2", 8));
    report.hosts = {"node1", "node1"};
    report.records[0].json["training"]["model"] = "mlp";
    report.records[0].json["started"] = "2026-11-21T05:44:58Z";
    CHECK(analysis::text(analysis::identity(report)) == "mlp, 2 ranks on node1, 2026-11-21T05:44:58Z");
}
