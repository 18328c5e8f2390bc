// SPDX-License-Identifier: Apache-2.0
// The number of cores that a job must keep: in the report of a run, of several runs together, and in a summary.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

using analysis::testing::SyntheticNoise;
using analysis::testing::SyntheticRun;
namespace fs = std::filesystem;

namespace {

// How a run of two ranks on a node of 16 CPUs, two to a core, comes out.
struct CoresRun {
    std::uint64_t seed = 1;
    std::string node_type = "old";
    int need = 2;               // cores of a rank: with fewer the step is longer by 20 %
    bool has_kept_cpus = true;  // recorded by noisegen, but not by its earlier versions
};

nlohmann::json noise_record(const CoresRun& run)
{
    nlohmann::json record{{"host", "here"},    {"seed", run.seed},          {"cpus", "0-15"},
                          {"cpus_online", 16}, {"shared_on_purpose", true}, {"stressors", nlohmann::json::array()}};
    for (int keep = 1; keep <= 4; ++keep) {
        nlohmann::json stressor{{"name", "job.cores"},
                                {"options", {{"keep", std::to_string(keep)}, {"neighbour", "memory.stream"}}},
                                {"how", "confined 2 processes (9 threads) to CPUs"}};
        const std::string last = std::to_string(2 * keep - 1);
        if (run.has_kept_cpus) stressor["kept_cpus"] = {"0-" + last, "8-" + std::to_string(8 + 2 * keep - 1)};
        record["stressors"].push_back(stressor);
        record["factor_levels"].push_back({{"factor", "job.cores"},
                                           {"level", "keep=" + std::to_string(keep)},
                                           {"stressor", "job.cores"},
                                           {"assigned_s", 1.0},
                                           {"bytes", 1e9 * (4 - keep)}});
    }
    return record;
}

fs::path written(const fs::path& folder, const CoresRun& run)
{
    SyntheticRun what;
    what.run_s = 24.0;
    what.seed = run.seed;
    std::vector<SyntheticNoise> noise;
    for (int keep = 1; keep <= 4; ++keep)
        noise.push_back(
            {"job.cores", "job.cores", "backward", keep < run.need ? 20.0 : 0.0, -1, "keep=" + std::to_string(keep)});
    what.noise.erase(what.noise.begin());
    noise.insert(noise.end(), what.noise.begin(), what.noise.end());
    what.noise = noise;
    analysis::testing::write_run(folder, what);
    const nlohmann::json training{{"cpu_model", run.node_type}, {"training", {{"model", "mlp"}}}};
    base::write_whole(folder / "train/run.json", training.dump());
    base::write_whole(folder / "noise/here.0/noise.json", noise_record(run).dump());
    return folder;
}

nlohmann::json cores_in(const fs::path& report)
{
    return nlohmann::json::parse(base::read_whole(report / "cores.json")).at("cores").at(0);
}

testing::Outcome analysed(const std::vector<fs::path>& runs, const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{testing::program, "analyse", "--draws", "99", "--budget", "2%"};
    for (const fs::path& run : runs) words.push_back(run.string());
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

}  // namespace

TEST_CASE("settings count the CPUs that noise recorded as kept by each rank")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = analysed({written(scratch / "run", {})});
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);
    const nlohmann::json cores = cores_in(scratch / "run/report");
    CHECK(cores["keep"] == 2);
    CHECK(cores["settings"]["slurm"] ==
          "--cpus-per-task=4 for the job, MaxCPUsPerNode=8 for the neighbours' partition");
    CHECK(cores["settings"]["kubelet"].get<std::string>().find("reservedSystemCPUs: \"0-3,8-11\"") !=
          std::string::npos);
    CHECK(cores["answer"].get<std::string>().starts_with("Keep 2 cores per rank for this job"));
    CHECK(outcome.out.find("lack the CPUs") == std::string::npos);
    const std::string page = base::read_whole(scratch / "run/report/index.html");
    CHECK(page.find("<h1>Keep 2 cores per rank for this job</h1>") != std::string::npos);
    CHECK(page.find("<p class=\"answer\">Keep 2 cores per rank for this job (") != std::string::npos);
    CHECK(page.find("too few cores: it slows down by more than") != std::string::npos);
    CHECK(page.find("enough cores: it slows down by less than") != std::string::npos);
    CHECK(page.find(" away: ") == std::string::npos);
}

TEST_CASE("records of noise without kept CPUs are said to lack them")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = analysed({written(scratch / "run", {.has_kept_cpus = false})});
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);
    const nlohmann::json cores = cores_in(scratch / "run/report");
    CHECK(cores["keep"] == 2);
    CHECK(cores["settings"]["slurm"] == "--cpus-per-task=2 for the job");
    CHECK(cores["advice"].get<std::string>().find("lack the CPUs that the job kept (kept_cpus") != std::string::npos);
    CHECK(outcome.out.find("lack the CPUs") != std::string::npos);
}

TEST_CASE("a report on several runs has one number of cores, its settings, and their curve")
{
    const testing::Scratch scratch;
    std::vector<fs::path> runs;
    for (const std::uint64_t seed : {4U, 5U, 6U})
        runs.push_back(written(scratch / ("run-" + std::to_string(seed)), {.seed = seed}));
    const fs::path out = scratch / "together";
    const testing::Outcome outcome = analysed(runs, {"--out", out.string()});
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);
    const nlohmann::json cores = cores_in(out);
    CHECK(cores["keep"] == 2);
    CHECK(nlohmann::json::parse(base::read_whole(out / "verdict.json")).at("cores").at(0) == cores);
    const auto answer = cores["answer"].get<std::string>();
    CHECK(outcome.out.find(answer) != std::string::npos);
    const std::string page = base::read_whole(out / "index.html");
    CHECK(page.find("Keep 2 cores per rank") != std::string::npos);
    CHECK(page.find("MaxCPUsPerNode=8") != std::string::npos);
    const base::CsvTable curve{out / "cores.csv"};
    REQUIRE(curve.rows() == 4);
    CHECK(curve.get<int>(0, "keep") == 4);
    CHECK(curve.get<double>(3, "effect_percent") == doctest::Approx(20.0).epsilon(0.1));
    CHECK(curve.get<double>(3, "neighbour_bytes_per_s") == doctest::Approx(3e9));
    if (!fs::exists("/usr/bin/gnuplot")) return testing::skip("gnuplot is not installed");
    CHECK(fs::exists(out / "cores.svg"));
}

TEST_CASE("a summary has the cores of each type of node and job in one table")
{
    const testing::Scratch scratch;
    REQUIRE(analysed({written(scratch / "a", {})}).status == 0);
    REQUIRE(analysed({written(scratch / "threads/threads-4", {.seed = 2, .node_type = "new", .need = 3})}).status == 0);
    base::write_whole(scratch / "threads/cores.json", R"({"format": 1, "runs": [{"directory": "threads-4"}]})");
    const auto summary = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{testing::program, "summary", scratch / "a", scratch / "threads"};
        words.insert(words.end(), more.begin(), more.end());
        return testing::run(words);
    };
    const testing::Outcome outcome = summary({"--out", scratch / "out"});
    INFO(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("cores of a rank that the job must keep:\nnode type  job  ranks  cores to keep") !=
          std::string::npos);
    CHECK(outcome.out.find("new        mlp  2      3 (3 to 3 at 2 %)") != std::string::npos);
    CHECK(outcome.out.find("old        mlp  2      2 (2 to 2 at 2 %)") != std::string::npos);

    const base::CsvTable rows{scratch / "out/cores.csv"};
    REQUIRE(rows.rows() == 2);
    CHECK(rows.text(0, "node_type") == "old");
    CHECK(rows.get<int>(0, "keep") == 2);
    CHECK(rows.text(1, "node_type") == "new");
    CHECK(rows.text(1, "neighbour") == "memory.stream");
    const std::string page = base::read_whole(scratch / "out/index.html");
    CHECK(page.find("Cores of a rank that the job must keep") != std::string::npos);
    CHECK(page.find("3 (3 to 3 at ") != std::string::npos);
    const nlohmann::json json = nlohmann::json::parse(summary({"--format", "json"}).out);
    REQUIRE(json["cores"].size() == 2);
    CHECK(json["cores"][1]["node_type"] == "new");
    CHECK(json["cores"][1]["keep"] == 3);
    CHECK(summary({"--format", "md"}).out.find("### Cores of a rank that the job must keep") != std::string::npos);
}
