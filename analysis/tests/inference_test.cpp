// SPDX-License-Identifier: Apache-2.0
// Tests of small statistics against textbook numbers.
#include "analysis/estimate/inference.hpp"

#include "analysis/estimate/sets/comparison.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <array>

TEST_CASE("the t quantile with two degrees of freedom is 4.303")
{
    CHECK(analysis::t_quantile(0.95, 2.0) == doctest::Approx(4.3027).epsilon(1e-4));
    CHECK(analysis::t_quantile(0.999, 19.0) == doctest::Approx(3.8834).epsilon(1e-4));
}

TEST_CASE("Holm multiplies the smallest p by the number of hypotheses and never decreases")
{
    const std::vector<double> adjusted = analysis::holm({0.04, 0.01, 0.03, 0.5});
    CHECK(adjusted[1] == doctest::Approx(0.04));
    CHECK(adjusted[2] == doctest::Approx(0.09));
    CHECK(adjusted[0] == doctest::Approx(0.09));
    CHECK(adjusted[3] == doctest::Approx(0.5));
    CHECK(analysis::holm({0.9, 0.8}) == std::vector<double>{1.0, 1.0});
}

TEST_CASE("Welch test of two small samples")
{
    const Eigen::VectorXd a{{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4}};
    const Eigen::VectorXd b{{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4}};
    const analysis::Mean difference = analysis::welch(a, b);
    CHECK(difference.degrees_of_freedom == doctest::Approx(27.9).epsilon(0.01));
    CHECK(difference.p_value() == doctest::Approx(0.0057).epsilon(0.05));
}

TEST_CASE("Mann-Whitney of five against five that do not overlap is 2 in 252")
{
    const Eigen::VectorXd low{{1.0, 2.0, 3.0, 4.0, 5.0}};
    const Eigen::VectorXd high{{6.0, 7.0, 8.0, 9.0, 10.0}};
    CHECK(analysis::mann_whitney_p(low, high) == doctest::Approx(2.0 / 252.0));
    CHECK(analysis::mann_whitney_p(high, low) == doctest::Approx(2.0 / 252.0));
    const Eigen::VectorXd mixed{{1.5, 3.5, 2.5}};
    CHECK(analysis::mann_whitney_p(Eigen::VectorXd{{1.0, 2.0, 3.0, 4.0}}, mixed) == doctest::Approx(1.0));
}

namespace {

analysis::RunSteps run_of(double ms, std::int64_t from)
{
    analysis::RunSteps run{"run", {"step", "forward"}, {}, {}};
    for (int i = 0; i < 30; ++i) {
        run.numbers.push_back(from + i);
        run.ms.append_row(std::array{ms, ms / 2.0});
    }
    return run;
}

}  // namespace

TEST_CASE("sets of runs compare by their aligned steps with the run as the unit")
{
    const std::vector<analysis::RunSteps> quiet{run_of(100.0, 0), run_of(101.0, 5), run_of(99.0, 3)};
    const std::vector<analysis::RunSteps> noisy{run_of(110.0, 2), run_of(111.0, 0), run_of(109.0, 0)};
    const analysis::Comparison comparison = analysis::compare(quiet, noisy, 10, 0.95);
    CHECK(comparison.numbers.front() == 15);  // the eleventh step of the run that begins with step 5
    CHECK(comparison.numbers.back() == 29);
    REQUIRE(comparison.phases.size() == 2);
    CHECK(comparison.phases[0].percent == doctest::Approx(10.0).epsilon(0.001));
    CHECK(comparison.phases[0].interval.contains(10.0));
    CHECK(comparison.phases[0].p_mann_whitney == doctest::Approx(0.1));
    CHECK(comparison.phases[1].percent == doctest::Approx(5.0));
    CHECK(comparison.floor_percent == doctest::Approx(3.6).epsilon(0.05));
}

TEST_CASE("a phase that only some runs have counts as nothing in the others")
{
    std::vector<analysis::RunSteps> noisy{run_of(110.0, 0), run_of(112.0, 0)};
    for (analysis::RunSteps& run : noisy) {
        run.names.emplace_back("checkpoint");
        run.ms.append(std::vector<double>(30, 10.0));
    }
    const analysis::Comparison comparison = analysis::compare({run_of(100.0, 0), run_of(100.0, 0)}, noisy, 0, 0.95);
    REQUIRE(comparison.phases.size() == 3);
    CHECK(comparison.phases[2].phase == "checkpoint");
    CHECK(comparison.phases[2].percent == doctest::Approx(10.0));
}

TEST_CASE("one run a side is refused because the run is the unit")
{
    CHECK_THROWS_AS(analysis::compare({run_of(1.0, 0)}, {run_of(1.0, 0), run_of(1.0, 0)}, 0, 0.95), base::UsageError);
    CHECK_THROWS_AS(analysis::compare({run_of(1.0, 0), run_of(1.0, 0)}, {run_of(1.0, 100), run_of(1.0, 0)}, 0, 0.95),
                    base::Error);
}

TEST_CASE("values are made monotone by the means of those that fall")
{
    CHECK(base::isotonic(std::vector{1.0, 3.0, 2.0, 4.0, 3.0, 5.0}) == std::vector{1.0, 2.5, 2.5, 3.5, 3.5, 5.0});
    CHECK(base::isotonic(std::vector{3.0, 2.0, 1.0}) == std::vector{2.0, 2.0, 2.0});
    CHECK(base::isotonic(std::vector<double>{}).empty());
}
