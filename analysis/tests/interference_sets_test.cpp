// SPDX-License-Identifier: Apache-2.0
// interference compare from end to end: archives of programs without phases, and refused runs.
#include "base/csv.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace fs = std::filesystem;
using testing::one_line;
using testing::program;

namespace {

// Writes an archive of two ranks as Score-P would: work and a collective in each of 60 iterations.
std::string loop(const fs::path& folder, const std::string& work, int steps = 60)
{
    const fs::path spec = folder.string() + ".spec";
    std::ofstream{spec} << "ranks 2\nrepeat " << steps << " iterate {\n work " << work << "\n MPI_Allreduce 100us\n}\n";
    const testing::Outcome made = testing::run({CROSSTALK_BIN "/trace-synth", spec, "-o", folder});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    return folder / "traces.otf2";
}

testing::Outcome compare(const std::vector<std::string>& quiet, const std::vector<std::string>& noisy,
                         const fs::path& out, const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{program, "compare", "--out", out, "--quiet"};
    words.insert(words.end(), quiet.begin(), quiet.end());
    words.emplace_back("--noisy");
    words.insert(words.end(), noisy.begin(), noisy.end());
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

double sum_of(const base::CsvTable& table, const std::string& column)
{
    double sum = 0.0;
    for (std::size_t row = 0; row < table.rows(); ++row) sum += table.get<double>(row, column);
    return sum;
}

}  // namespace

TEST_CASE("the rank that got slower is named in archives without phases")
{
    const testing::Scratch scratch;
    const std::vector<std::string> quiet{loop(scratch / "q1", "4000us"), loop(scratch / "q2", "4010us")};
    const std::vector<std::string> noisy{loop(scratch / "n1", "4000us, 6000us on 1"),
                                         loop(scratch / "n2", "4010us, 6020us on 1", 50)};
    const testing::Outcome outcome = compare(quiet, noisy, scratch / "out");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    INFO(outcome.out);
    const base::CsvTable causes{scratch / "out/causes.csv"};
    CHECK(causes.text(0, "critical_rank") == "1");
    CHECK(causes.text(0, "region") == "work");
    CHECK(causes.text(0, "waiting_rank") == "0");
    // Rank 1's work grew, and rank 0 waited for it, by 2.005 ms of a quiet step of 4.105 ms.
    CHECK(causes.get<double>(0, "region_percent") == doctest::Approx(48.8).epsilon(0.01));
    CHECK(causes.get<double>(0, "waiting_percent") == doctest::Approx(48.8).epsilon(0.01));
    CHECK(causes.text(0, "largest_part") == "own work");
    const base::CsvTable parts{scratch / "out/decomposition.csv"};
    CHECK(sum_of(parts, "effect_percent") == doctest::Approx(causes.get<double>(0, "effect_percent")).epsilon(0.01));
    CHECK(std::abs(parts.get<double>(parts.rows() - 1, "effect_percent")) < 0.5);
    const nlohmann::json verdict = nlohmann::json::parse(base::read_whole(scratch / "out/verdict.json"));
    CHECK(verdict["aligned_by"] == "their numbers");
    CHECK(verdict["steps_aligned"] == 40);
    CHECK(verdict["decomposition"]["critical_rank"] == 1);
    const base::CsvTable rows{scratch / "out/compare.csv"};
    CHECK(rows.text(0, "rank") == "all");
    CHECK(rows.text(rows.rows() - 1, "rank") == "1");
    CHECK(base::CsvTable{scratch / "out/resilience.csv"}.rows() > 0);
}

TEST_CASE("a comparison prints as Markdown, as JSON and as the page, and what is unexplained has no interval")
{
    const testing::Scratch scratch;
    const std::vector<std::string> quiet{loop(scratch / "q1", "4000us"), loop(scratch / "q2", "4010us")};
    const std::vector<std::string> noisy{loop(scratch / "n1", "6000us"), loop(scratch / "n2", "6020us")};
    const std::string markdown = compare(quiet, noisy, scratch / "md", {"--format", "md"}).out;
    CHECK(markdown.starts_with("## Noisy against quiet runs: +4"));
    CHECK(markdown.find("| Phase | Effect | Interval | p (Welch, Holm) |") != std::string::npos);
    CHECK(markdown.find("| MPI\\_Allreduce |") != std::string::npos);
    const auto json = nlohmann::json::parse(compare(quiet, noisy, scratch / "json", {"--format", "json"}).out);
    CHECK(json.at("verdict") == "unsafe");
    CHECK(json.at("effects").at(0).at("phase") == "step");
    CHECK(compare(quiet, noisy, scratch / "html", {"--format", "html"}).out.starts_with("<!"));
    const base::CsvTable parts{scratch / "md/decomposition.csv"};
    for (std::size_t row = 0; row < parts.rows(); ++row)
        CHECK((parts.text(row, "part") == "unexplained") == std::string{parts.text(row, "low_percent")}.empty());
}

TEST_CASE("a network that got slower is told from a late rank")
{
    const testing::Scratch scratch;
    const auto with_transfer = [&](const char* name, const std::string& transfer) {
        const fs::path spec = scratch / (std::string{name} + ".spec");
        std::ofstream{spec} << "ranks 2\nrepeat 40 iterate {\n work 4ms, 5ms on 1\n MPI_Allreduce " << transfer
                            << "\n}\n";
        REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", spec, "-o", scratch / name}).status == 0);
        return (scratch / name / "traces.otf2").string();
    };
    const testing::Outcome outcome =
        compare({with_transfer("q1", "500us"), with_transfer("q2", "501us")},
                {with_transfer("n1", "1500us"), with_transfer("n2", "1502us")}, scratch / "out");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const base::CsvTable causes{scratch / "out/causes.csv"};
    CHECK(causes.text(0, "largest_part") == "transfer");
    CHECK(causes.text(0, "resource") == "network");
    CHECK(causes.text(0, "critical_rank").empty());
}

TEST_CASE("runs of other numbers of ranks, copies and unknown regions are refused in one line")
{
    const testing::Scratch scratch;
    const std::string one = loop(scratch / "one", "4ms");
    const std::string two = loop(scratch / "two", "5ms");
    const fs::path spec = scratch / "three.spec";
    std::ofstream{spec} << "ranks 3\nrepeat 60 iterate {\n work 4ms\n MPI_Allreduce 100us\n}\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", spec, "-o", scratch / "three"}).status == 0);
    const auto refused = [&](const testing::Outcome& outcome, const std::string& words) {
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK(one_line(outcome.err));
        CHECK(outcome.err.find(words) != std::string::npos);
        CHECK_FALSE(fs::exists(scratch / "out"));
    };
    refused(compare({one, two}, {one, scratch / "three"}, scratch / "out"), "are the same run");
    refused(compare({one, two}, {scratch / "three", scratch / "three"}, scratch / "out"),
            "compare runs with equal numbers");
    fs::copy(scratch / "one", scratch / "copy", fs::copy_options::recursive);
    refused(compare({one, two}, {scratch / "copy", one}, scratch / "out"), "are the same run");
    refused(compare({one, two}, {one, two}, scratch / "out", {"--step-region", "itterate"}), "did you mean iterate");
}

TEST_CASE("a training that a signal ended is compared only if that is asked for")
{
    const testing::Scratch scratch;
    std::vector<std::string> runs;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const fs::path run = scratch / std::to_string(seed);
        analysis::testing::write_run(run, {.run_s = 3.0, .seed = seed});
        std::ofstream{run / "train/run.json"} << R"({"training":{"strategy":"ddp"},"result":{"ended_by":")"
                                              << (seed == 4 ? "signal" : "steps") << "\"}}";
        runs.push_back(run);
    }
    const testing::Outcome refused = compare({runs[0], runs[1]}, {runs[2], runs[3]}, scratch / "out");
    CHECK(refused.status == 2);
    CHECK(refused.err.find("--unfinished") != std::string::npos);
    const testing::Outcome taken = compare({runs[0], runs[1]}, {runs[2], runs[3]}, scratch / "out", {"--unfinished"});
    CHECK_MESSAGE(taken.status == 0, taken.err);
    std::ofstream{scratch / "1/train/run.json"} << R"({"training":{"strategy":"naive"}})";
    CHECK(compare({runs[0], runs[1]}, {runs[2], runs[3]}, scratch / "two", {"--unfinished"})
              .err.find("differ in strategy") != std::string::npos);
}

TEST_CASE("a designed run names the rank and the phase that a noise slowed, and all parts add up")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run",
                                 {.noise = {{"mem", "memory.stream", "backward", 10.0, 1},
                                            {"net", "network.exchange", "transfer", 8.0, -1},
                                            {"placebo", "placebo", "", 0.0, -1, "", base::Role::placebo}}});
    REQUIRE(testing::analyse(scratch / "run").status == 0);
    const base::CsvTable causes{scratch / "run/report/causes.csv"};
    REQUIRE(causes.rows() == 2);
    CHECK(causes.text(0, "factor") == "mem");
    CHECK(causes.text(0, "critical_rank") == "1");
    CHECK(causes.text(0, "region") == "backward");
    CHECK(causes.text(0, "waiting_rank") == "0");
    CHECK(causes.text(0, "resource") == "memory");
    CHECK(causes.text(0, "by_design") == "1");
    CHECK(causes.get<double>(0, "region_percent") == doctest::Approx(10.0).epsilon(0.1));
    CHECK(causes.text(1, "largest_part") == "transfer");
    CHECK(causes.text(1, "resource") == "network");
    const base::CsvTable parts{scratch / "run/report/decomposition.csv"};
    for (const char* factor : {"mem", "net"}) {
        double sum = 0.0;
        for (std::size_t row = 0; row < parts.rows(); ++row)
            if (parts.text(row, "factor") == factor) sum += parts.get<double>(row, "effect_percent");
        CHECK(sum == doctest::Approx(causes.get<double>(factor == std::string{"mem"} ? 0 : 1, "effect_percent")));
    }
}
