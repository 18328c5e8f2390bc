// SPDX-License-Identifier: Apache-2.0
// Effects of noise on GPUs in the report, against effects known by construction.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace fs = std::filesystem;

namespace {

analysis::testing::SyntheticRun run_on_gpus()
{
    analysis::testing::SyntheticRun run;
    run.gpu = true;
    run.deviation = 0.001;
    return run;
}

// [measure]: value of the column for noise `mem`.
std::map<std::string, double> of_mem(const fs::path& report, const std::string& column)
{
    std::map<std::string, double> found;
    const base::CsvTable table{report / "gpu_effects.csv"};
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (table.text(row, "factor") == "mem") found[table.text(row, "measure")] = table.get<double>(row, column);
    return found;
}

}  // namespace

TEST_CASE("a noise that makes the host launch late shows as that on the GPU, and not in its kernels")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", run_on_gpus());  // mem: 10 % of 20 ms are added before the kernel
    const testing::Outcome outcome = testing::analyse(scratch / "run");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const fs::path report = scratch / "run/report";
    const std::map<std::string, double> percent = of_mem(report, "effect_percent");
    CHECK(percent.at("gpu_idle_launch") == doctest::Approx(10.0).epsilon(0.05));
    CHECK(percent.at("gpu_idle") == doctest::Approx(10.0).epsilon(0.05));
    CHECK(of_mem(report, "effect_ms").at("gpu_idle_launch") == doctest::Approx(2.0).epsilon(0.05));
    for (const char* same : {"gpu_busy", "gpu_exchange", "gpu_idle_input", "gpu_idle_nothing", "launch_delay_p50"})
        CHECK_MESSAGE(std::abs(percent.at(same)) < 0.2, same);

    const base::CsvTable steps{report / "gpu_steps.csv"};
    CHECK(steps.rows() > 1000);
    CHECK(steps.get<std::int64_t>(0, "busy_ns") == 14'000'000);
    CHECK(steps.get<std::int64_t>(0, "launch_delay_p50_ns") == 10'000);
    const std::string page = base::read_whole(report / "index.html");
    for (const char* text : {">GPU<", "Effects on the GPU", "idle: launched late", "href=\"gpu_steps.csv\"",
                             "GPUs wait longer for a host that launches late (+", "known delay was measured correctly"})
        CHECK_MESSAGE(page.find(text) != std::string::npos, text);
}

TEST_CASE("GPUs whose activities are not all in the archive are left out of the report, which says so")
{
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run = run_on_gpus();
    run.gpu_dropped = 100;  // 1 in 1,001 activities
    analysis::testing::write_run(scratch / "tolerated", run);
    run.gpu_dropped = 5000;
    analysis::testing::write_run(scratch / "run", run);
    REQUIRE(testing::analyse(scratch / "tolerated").status == 0);
    REQUIRE(testing::analyse(scratch / "run").status == 0);
    CHECK(fs::exists(scratch / "tolerated/report/gpu_effects.csv"));
    CHECK_FALSE(fs::exists(scratch / "run/report/gpu_effects.csv"));
    const auto verdict = nlohmann::json::parse(base::read_whole(scratch / "run/report/verdict.json"));
    const std::string notes = verdict.at("notes").dump();
    CHECK(notes.find("GPUs are left out: 5000 of 105000 activities of the GPUs of ") != std::string::npos);
    const std::string archive = scratch / "run/train/trace/traces.otf2";
    const testing::Outcome check = testing::run({CROSSTALK_BIN "/trace-info", "--check", archive});
    CHECK(check.out.starts_with("odd: 5000 of 105000 activities of the GPUs of "));
}

TEST_CASE("a control delay that queued work hides is reported as absorbed, and does not make a report untrustworthy")
{
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run = run_on_gpus();
    run.absorbed = 0.6;  // of a delay of 5 % of the step
    analysis::testing::write_run(scratch / "run", run);
    const testing::Outcome outcome = testing::analyse(scratch / "run");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const auto verdict = nlohmann::json::parse(base::read_whole(scratch / "run/report/verdict.json"));
    const nlohmann::json& delay = verdict.at("controls").at("delay");
    CHECK(verdict.at("trustworthy") == true);
    CHECK(delay.at("true_percent").get<double>() == doctest::Approx(5.0).epsilon(0.05));
    CHECK(delay.at("effect_percent").get<double>() == doctest::Approx(2.0).epsilon(0.1));
    CHECK(delay.at("absorbed_percent").get<double>() == doctest::Approx(60.0).epsilon(0.05));
    CHECK(delay.at("gpu_covered_percent").get<double>() == doctest::Approx(60.0).epsilon(0.01));
    CHECK(outcome.out.find("% of the delay, the most that queued work can absorb.") != std::string::npos);
    CHECK(base::read_whole(scratch / "run/report/index.html")
              .find("known delay cost only the part that queued GPU work did not hide") != std::string::npos);
}

TEST_CASE("a control delay that vanishes while no GPU computes makes a report untrustworthy as ever")
{
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run = run_on_gpus();
    run.gpu = false;
    run.absorbed = 0.6;
    analysis::testing::write_run(scratch / "run", run);
    testing::analyse(scratch / "run");
    const auto verdict = nlohmann::json::parse(base::read_whole(scratch / "run/report/verdict.json"));
    CHECK(verdict.at("trustworthy") == false);
    CHECK_FALSE(verdict.at("controls").at("delay").contains("absorbed_percent"));
    CHECK_FALSE(fs::exists(scratch / "run/report/gpu_steps.csv"));
    CHECK(base::read_whole(scratch / "run/report/index.html").find("Effects on the GPU") == std::string::npos);
}
