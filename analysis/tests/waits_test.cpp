// SPDX-License-Identifier: Apache-2.0
// Waiting in MPI in the report, against waits known by construction.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

namespace fs = std::filesystem;

TEST_CASE("the report says how long a step waits in MPI under each noise, and what made it wait")
{
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run;
    run.mpi = true;
    run.deviation = 0.001;
    run.noise[0].rank = 1;  // 10 % of 20 ms, for which the other rank waits: 1 ms on average over both
    analysis::testing::write_run(scratch / "run", run);
    const testing::Outcome outcome = testing::analyse(scratch / "run");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const fs::path report = scratch / "run/report";
    std::map<std::string, double> ms;
    double waited_s = 0.0;
    const base::CsvTable states{report / "wait_states.csv"};
    for (std::size_t row = 0; row < states.rows(); ++row) {
        if (states.text(row, "pattern") != "mpi_wait_nxn") continue;
        ms[states.text(row, "treatment")] = states.get<double>(row, "ms_per_step");
        waited_s = states.get<double>(row, "seconds_of_run");
    }
    CHECK(ms.at("mem") == doctest::Approx(1.0).epsilon(0.05));
    CHECK(ms.at("quiet") < 0.05);
    CHECK(ms.at("placebo") < 0.05);

    // Scalasca: delay costs add up to the total waiting time.
    const base::CsvTable path{report / "path.csv"};
    double cost_s = 0.0;
    std::map<int, double> of_rank;
    for (std::size_t row = 0; row < path.rows(); ++row) {
        cost_s += path.get<double>(row, "delay_cost_seconds");
        of_rank[path.get<int>(row, "rank")] += path.get<double>(row, "delay_cost_seconds");
    }
    CHECK(cost_s == doctest::Approx(waited_s).epsilon(0.01));
    CHECK(of_rank[1] > 10.0 * of_rank[0]);

    const base::CsvTable pop{report / "pop.csv"};
    REQUIRE(pop.rows() == 5);
    CHECK(pop.text(0, "metric") == "parallel_efficiency");

    const std::string page = base::read_whole(report / "index.html");
    for (const char* text : {"Waiting in MPI", "Wait at N x N", "Critical path", "href=\"path.csv\""})
        CHECK_MESSAGE(page.find(text) != std::string::npos, text);
}

TEST_CASE("a training without MPI calls has no waits in its report")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    REQUIRE(testing::analyse(scratch / "run").status == 0);
    CHECK_FALSE(fs::exists(scratch / "run/report/wait_states.csv"));
    CHECK(base::read_whole(scratch / "run/report/index.html").find("Waiting in MPI") == std::string::npos);
}
