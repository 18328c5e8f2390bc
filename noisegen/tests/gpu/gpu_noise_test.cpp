// SPDX-License-Identifier: Apache-2.0
// The GPU stressors on a real GPU.
#include "base/csv.hpp"
#include "base/system/cpus.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

TEST_CASE("noise on a GPU moves bytes and launches kernels, or says that there is no GPU")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        testing::run_noisegen({"--schedule", "gpu.copy 500ms; gpu.launch 500ms; gpu.memory 500ms; quiet 500ms",
                               "--duration", "2s", "--cpus", testing::cpu(), "--out", scratch / "run"});
    INFO(outcome.err);
    if (outcome.status == 77) {
        CHECK(outcome.err.starts_with("noisegen: gpu.copy: there is no GPU: "));
        return testing::skip("no GPU");
    }
    REQUIRE(outcome.status == 0);
    const base::CsvTable rows{testing::part(scratch) / "noise.csv"};
    REQUIRE(rows.rows() == 4);
    CHECK(rows.get<std::int64_t>(0, "bytes") > 100'000'000);
    CHECK(rows.get<std::int64_t>(1, "operations") > 1000);
    CHECK(rows.get<std::int64_t>(2, "bytes") > rows.get<std::int64_t>(0, "bytes"));
    CHECK(rows.get<std::int64_t>(3, "bytes") == 0);
}

TEST_CASE("the kernel knows which CPUs are near a GPU, or there is no GPU")
{
    const testing::Outcome outcome = testing::run_noisegen(
        {"--schedule", "placebo 1s", "--duration", "1s", "--dry-run", "--cpus", "all", "--near", "gpu:0"});
    INFO(outcome.err);
    if (outcome.status == 77) return testing::skip("no GPU");
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("noisegen: cpu ") != std::string::npos);
}
