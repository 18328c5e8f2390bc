// SPDX-License-Identifier: Apache-2.0
// Tests of interference observe: noise without a design, from a table or an archive.
#include "base/csv.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace fs = std::filesystem;
using testing::one_line;
using testing::program;

namespace {

struct Span {
    double begin_s;
    double end_s;
};

// Writes steps of 20 ms of two ranks on two hosts, from 1000 s on. They take `extra_ms` longer while noise is on, and
// change by the trend.
void write_steps(const fs::path& file, const std::vector<Span>& noise, double extra_ms, double trend_ms = 0.0,
                 int steps = 600)
{
    std::ofstream out{file};
    out << "rank,step,begin_ns,end_ns,backward_ns,checkpoint_ns,host\n";
    double time_s = 1000.0;
    for (int step = 0; step < steps; ++step) {
        bool on = false;
        for (const Span& span : noise) on = on || (time_s >= span.begin_s && time_s < span.end_s);
        const double jitter_ms = 0.05 * (step * 37 % 11 - 5);
        const double ms = 20.0 + jitter_ms + (on ? extra_ms : 0.0) + trend_ms * step / steps;
        const auto begin = static_cast<std::int64_t>(time_s * 1e9);
        const auto length = static_cast<std::int64_t>(ms * 1e6);
        for (int rank = 0; rank < 2; ++rank)
            out << rank << "," << step << "," << begin << "," << begin + length << "," << length / 2 << ","
                << (step % 20 == 0 ? 1000 : 0) << ",node" << rank << ".cluster\n";
        time_s += ms / 1e3;
    }
}

std::vector<Span> every_second(double from_s, int count)
{
    std::vector<Span> spans;
    for (int i = 0; i < count; ++i) spans.push_back({from_s + 2.03 * i * 0.3, from_s + 2.03 * i * 0.3 + 0.3});
    return spans;
}

void write_log(const fs::path& file, const std::vector<Span>& spans, const std::string& host, double shift_s = 0.0)
{
    std::ofstream out{file};
    out.precision(14);
    out << "begin_s,end_s,host,what,level\n";
    for (const Span& span : spans)
        out << span.begin_s + shift_s << "," << span.end_s + shift_s << "," << host << ",sort,\n";
}

testing::Outcome observe(const fs::path& train, const std::vector<std::string>& noise, const fs::path& out,
                         const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{program, "observe", "--train", train, "--out", out, "--noise"};
    words.insert(words.end(), noise.begin(), noise.end());
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

nlohmann::json verdict_of(const fs::path& out)
{
    return nlohmann::json::parse(base::read_whole(out / "verdict.json"));
}

bool any_reason(const nlohmann::json& verdict, const std::string& words)
{
    for (const auto& reason : verdict["reasons"])
        if (reason.get<std::string>().find(words) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("noise of a job log is observed: its cost, what could confound, and no verdict")
{
    const testing::Scratch scratch;
    const std::vector<Span> spans = every_second(1000.5, 15);
    write_steps(scratch / "steps.csv", spans, 2.0);
    write_log(scratch / "jobs.csv", spans, "node1");
    const testing::Outcome outcome = observe(scratch / "steps.csv", {scratch / "jobs.csv"}, scratch / "out");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(outcome.out.starts_with("OBSERVED, no verdict"));
    const nlohmann::json verdict = verdict_of(scratch / "out");
    CHECK(verdict["observed"] == true);
    CHECK(verdict["trustworthy"] == false);
    CHECK(verdict["factors"]["sort"]["verdict"] == "observed");
    CHECK(verdict["factors"]["sort"]["effect_percent"].get<double>() == doctest::Approx(10.0).epsilon(0.05));
    CHECK(any_reason(verdict, "noise was not randomised"));
    CHECK_FALSE(any_reason(verdict, "trend"));
    CHECK_FALSE(any_reason(verdict, "episodes, so their variation"));
    CHECK(fs::exists(scratch / "out/index.html"));
    CHECK(fs::exists(scratch / "out/decomposition.csv"));
    CHECK(base::CsvTable{scratch / "out/effects.csv"}.rows() > 0);
}

TEST_CASE("what was observed prints as Markdown and JSON, by whichever command")
{
    const testing::Scratch scratch;
    const std::vector<Span> spans = every_second(1000.5, 15);
    write_steps(scratch / "steps.csv", spans, 2.0);
    write_log(scratch / "jobs.csv", spans, "node1");
    const testing::Outcome markdown =
        observe(scratch / "steps.csv", {scratch / "jobs.csv"}, scratch / "md", {"--format", "md"});
    CHECK(markdown.out.starts_with("## Observed, not designed: no verdict\n"));
    CHECK(base::read_whole(scratch / "md/index.html").find("if it were trustworthy") == std::string::npos);
    CHECK(base::read_whole(scratch / "md/index.html").find("crosstalk run --runs") == std::string::npos);
    CHECK(markdown.out.find("| sort |") != std::string::npos);
    const testing::Outcome json = testing::run({program, "exposure", "--steps", scratch / "steps.csv", "--noise",
                                                scratch / "jobs.csv", "--out", scratch / "json", "--format", "json"});
    CHECK(nlohmann::json::parse(json.out).at("verdicts").at(0).at("verdict") == "observed");
}

TEST_CASE("a trend, few episodes, and noise in one part of the run are told")
{
    const testing::Scratch scratch;
    const std::vector<Span> spans = every_second(1008.5, 4);
    write_steps(scratch / "steps.csv", spans, 0.0, 4.0);
    write_log(scratch / "jobs.csv", spans, "");
    REQUIRE(observe(scratch / "steps.csv", {scratch / "jobs.csv"}, scratch / "out").status == 0);
    const nlohmann::json verdict = verdict_of(scratch / "out");
    CHECK(any_reason(verdict, "sort ran in 4 episodes, so their variation"));
    CHECK(any_reason(verdict, "% of the run: effects of the time of day"));
    CHECK(any_reason(verdict, "quiet steps change by"));
}

TEST_CASE("noise that begins with a phase of the training is told")
{
    const testing::Scratch scratch;
    write_steps(scratch / "steps.csv", {}, 0.0);
    const base::CsvTable steps{scratch / "steps.csv"};
    std::vector<Span> spans;
    for (std::size_t row = 0; row < steps.rows(); ++row)
        if (steps.get<int>(row, "rank") == 0 && steps.get<int>(row, "step") % 20 == 0) {
            const double begin_s = steps.get<double>(row, "begin_ns") / 1e9 + 0.015;
            spans.push_back({begin_s, begin_s + 0.15});
        }
    write_log(scratch / "jobs.csv", spans, "node0");
    REQUIRE(observe(scratch / "steps.csv", {scratch / "jobs.csv"}, scratch / "out").status == 0);
    const nlohmann::json verdict = verdict_of(scratch / "out");
    CHECK(any_reason(verdict, "begins at the same position of a step, after 75.0 % of it"));
    CHECK(any_reason(verdict, "begins in steps with checkpoint"));
}

TEST_CASE("where nothing can be compared there is no answer, and why")
{
    const testing::Scratch scratch;
    const std::vector<Span> spans = every_second(1000.5, 15);
    write_steps(scratch / "steps.csv", spans, 2.0);
    const auto no_answer = [&](const std::string& name, const std::vector<Span>& noise, const std::string& host,
                               const std::string& why, double shift_s = 0.0) {
        write_log(scratch / (name + ".csv"), noise, host, shift_s);
        const testing::Outcome outcome = observe(scratch / "steps.csv", {scratch / (name + ".csv")}, scratch / name);
        INFO(outcome.out, outcome.err);
        CHECK(outcome.status == 3);
        const nlohmann::json verdict = verdict_of(scratch / name);
        CHECK(any_reason(verdict, why));
        CHECK(verdict["factors"].empty());
    };
    no_answer("later", spans, "node1", "no noise ran while the training did", 500.0);
    no_answer("elsewhere", spans, "node7", "it ran on node7, the training on node0.cluster, node1.cluster");
    std::string one_node = base::read_whole(scratch / "steps.csv");
    for (std::size_t at = 0; (at = one_node.find("node1.", at)) != std::string::npos;) one_node[at + 4] = '0';
    base::write_whole(scratch / "one_node.csv", one_node);
    CHECK(observe(scratch / "one_node.csv", {scratch / "elsewhere.csv"}, scratch / "on_one")
              .out.ends_with("it ran on node7, the training on node0.cluster\n"));
    no_answer("always", {{999.0, 1100.0}}, "node0", "no quiet baseline");
    no_answer("once", {{1001.0, 1002.0}}, "node0", "in only one episode");
    no_answer("empty", {}, "node0", "no episodes");
    std::ofstream{scratch / "bad.csv"} << "begin_s,end_s,host,what\n5,4,a,b\n";
    const testing::Outcome bad = observe(scratch / "steps.csv", {scratch / "bad.csv"}, scratch / "bad");
    CHECK(bad.status == 1);
    CHECK(one_line(bad.err));
    CHECK(bad.err.find("ends before it begins") != std::string::npos);
    const testing::Outcome real = [&] {
        write_log(scratch / "real.csv", spans, "node0", 1.7e9);
        return observe(scratch / "steps.csv", {scratch / "real.csv"}, scratch / "real");
    }();
    CHECK(real.status == 1);
    CHECK(real.err.find("--clock-offset") != std::string::npos);
}

TEST_CASE("several hosts and several logs count together, and a stated offset brings clocks together")
{
    const testing::Scratch scratch;
    const std::vector<Span> spans = every_second(1000.5, 16);
    write_steps(scratch / "steps.csv", spans, 2.0);
    std::vector<Span> on_first;
    std::vector<Span> on_second;
    for (std::size_t i = 0; i < spans.size(); ++i) (i % 2 == 0 ? on_first : on_second).push_back(spans[i]);
    write_log(scratch / "first.csv", on_first, "node0", 20.0);
    write_log(scratch / "second.csv", on_second, "node1", 20.0);
    const testing::Outcome outcome = observe(scratch / "steps.csv", {scratch / "first.csv", scratch / "second.csv"},
                                             scratch / "out", {"--clock-offset", "-20s"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(verdict_of(scratch / "out")["factors"]["sort"]["effect_percent"].get<double>() ==
          doctest::Approx(10.0).epsilon(0.05));
}

TEST_CASE("an archive of noise is observed, whoever wrote it")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    const fs::path noise = scratch / "run/noise/here.0/trace/traces.otf2";
    const testing::Outcome outcome = observe(scratch / "run", {noise}, scratch / "out");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(verdict_of(scratch / "out")["factors"]["mem"]["effect_percent"].get<double>() ==
          doctest::Approx(10.0).epsilon(0.15));
    // For a program without a schedule, its outermost regions are the episodes.
    {
        otf2::Recorder recorder{scratch / "neighbour"};
        otf2::LocationRecorder& main = recorder.location("main");
        main.enter(recorder.region("main"), analysis::testing::detail::start_ns);
        for (std::int64_t i = 0; i < 20; ++i) {
            const std::int64_t begin = analysis::testing::detail::start_ns + 1'000'000'000 + i * 500'000'000;
            main.enter(recorder.region("sort"), begin);
            main.leave(recorder.region("sort"), begin + 200'000'000);
        }
        main.leave(recorder.region("main"), analysis::testing::detail::start_ns + 15'000'000'000);
        recorder.finish();
    }
    const testing::Outcome other = observe(scratch / "run", {scratch / "neighbour/traces.otf2"}, scratch / "other");
    REQUIRE_MESSAGE(other.status == 0, other.err);
    CHECK(verdict_of(scratch / "other")["factors"].contains("sort"));
}
