// SPDX-License-Identifier: Apache-2.0
// Intervals between checkpoints, against numbers by pen and paper.
#include "analysis/checkpoints/interval.hpp"

#include <doctest/doctest.h>

#include <cmath>

TEST_CASE("the intervals of Young and Daly are those of the papers' formulas")
{
    CHECK(analysis::young_interval_s(60.0, 86400.0) == doctest::Approx(3220.0).epsilon(0.0001));
    CHECK(analysis::daly_interval_s(60.0, 86400.0) == doctest::Approx(3180.0).epsilon(0.0001));
    CHECK(analysis::young_interval_s(30.0, 21600.0) == doctest::Approx(1138.0).epsilon(0.0005));
    CHECK(analysis::daly_interval_s(30.0, 21600.0) == doctest::Approx(1119.0).epsilon(0.0005));
    CHECK(analysis::daly_interval_s(50.0, 25.0) ==
          25.0);  // a checkpoint as long as two failures: no more than the MTBF
    CHECK(analysis::daly_interval_s(0.0, 86400.0) == 0.0);
}

TEST_CASE("lost shares add up to the time that Daly's complete model takes")
{
    const analysis::CheckpointCosts costs{.checkpoint_s = 60.0, .mtbf_s = 3600.0, .restart_s = 120.0};
    const analysis::LostShares lost = analysis::lost_shares(600.0, costs);
    const double elapsed = 3600.0 * std::exp(120.0 / 3600.0) * std::expm1(660.0 / 3600.0);
    CHECK(lost.total() == doctest::Approx(1.0 - 600.0 / elapsed));
    CHECK(lost.checkpoints == doctest::Approx(60.0 / elapsed));
}

TEST_CASE("a checkpoint that is still being written costs its time again at each failure")
{
    const analysis::CheckpointCosts costs{.checkpoint_s = 1.0, .mtbf_s = 3600.0, .unfinished_s = 30.0};
    const double failures = std::expm1(101.0 / 3600.0);  // in an interval, with those of its repetitions
    CHECK(analysis::lost_shares(100.0, costs).total() ==
          doctest::Approx(1.0 - 100.0 / (3600.0 * failures + 30.0 * failures)));
}

TEST_CASE("a job that fails before it reaches its next checkpoint loses all its time")
{
    const analysis::CheckpointCosts costs{.checkpoint_s = 10.0, .mtbf_s = 1e-3};
    CHECK(analysis::lost_shares(1000.0, costs).total() == doctest::Approx(1.0));
}
