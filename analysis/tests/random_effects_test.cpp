// SPDX-License-Identifier: Apache-2.0
// Tests of pooled runs against statsmodels 0.15 (Python) on the same numbers: combine_effects with method_re="iterated"
// (Paule and Mandel) and its standard error of Hartung and Knapp; anova_oneway for Welch's test.
#include "analysis/estimate/random_effects.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

using analysis::Looks;
using analysis::Mean;

namespace {

// Log relative risk of tuberculosis after BCG in 13 trials, from cases and others, vaccinated and not: metafor's
// dat.bcg.
std::vector<Mean> bcg()
{
    constexpr std::array<std::array<double, 4>, 13> trials{{{4, 119, 11, 128},
                                                            {6, 300, 29, 274},
                                                            {3, 228, 11, 209},
                                                            {62, 13536, 248, 12619},
                                                            {33, 5036, 47, 5761},
                                                            {180, 1361, 372, 1079},
                                                            {8, 2537, 10, 619},
                                                            {505, 87886, 499, 87892},
                                                            {29, 7470, 45, 7232},
                                                            {17, 1699, 65, 1600},
                                                            {186, 50448, 141, 27197},
                                                            {5, 2493, 3, 2338},
                                                            {27, 16886, 29, 17825}}};
    std::vector<Mean> all;
    for (const auto& [a, b, c, d] : trials)
        all.push_back({std::log(a / (a + b)) - std::log(c / (c + d)),
                       std::sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)), a + b + c + d - 2.0});
    return all;
}

}  // namespace

TEST_CASE("thirteen trials of BCG pool as statsmodels and metafor pool them")
{
    const analysis::RandomEffects pooled = analysis::random_effects(bcg());
    CHECK(pooled.between * pooled.between == doctest::Approx(0.318068).epsilon(1e-5));
    CHECK(pooled.mean.value == doctest::Approx(-0.714968).epsilon(1e-5));
    CHECK(pooled.mean.standard_error == doctest::Approx(0.180892).epsilon(1e-5));
    CHECK(pooled.mean.interval(0.95).low == doctest::Approx(-1.109098).epsilon(1e-5));
    CHECK(pooled.mean.interval(0.95).high == doctest::Approx(-0.320838).epsilon(1e-5));
}

TEST_CASE("four runs that differ by more than their intervals give a wide interval")
{
    const std::vector<Mean> runs{
        {10.9, 3.4 / 2.1, 20}, {12.0, 3.5 / 2.1, 20}, {13.9, 2.9 / 2.1, 20}, {17.6, 1.1 / 2.1, 20}};
    const analysis::RandomEffects pooled = analysis::random_effects(runs);
    CHECK(pooled.between == doctest::Approx(std::sqrt(7.503730)).epsilon(1e-5));
    CHECK(pooled.mean.value == doctest::Approx(13.887470).epsilon(1e-5));
    CHECK(pooled.mean.interval(0.95).low == doctest::Approx(9.03910).epsilon(1e-5));
    CHECK(pooled.mean.interval(0.95).high == doctest::Approx(18.73584).epsilon(1e-5));
    CHECK(analysis::p_alike(runs) < 0.01);
}

TEST_CASE("runs that differ by less than their intervals leave nothing between them")
{
    const std::vector<Mean> runs{{1.0, 0.2, 20}, {1.2, 0.3, 20}, {1.1, 0.25, 20}};
    const analysis::RandomEffects pooled = analysis::random_effects(runs);
    CHECK(pooled.between == 0.0);
    CHECK(pooled.mean.value == doctest::Approx(1.073348).epsilon(1e-5));
    CHECK(pooled.mean.standard_error == doctest::Approx(0.0557642).epsilon(1e-5));
    CHECK(analysis::p_alike(runs) > 0.5);
}

TEST_CASE("two runs have an interval and no prediction")
{
    // Equal errors: mean (1 + 3) / 2, standard error |3 - 1| / 2 with one degree of freedom.
    const std::vector<Mean> runs{{1.0, 0.1, 20}, {3.0, 0.1, 20}};
    const analysis::RandomEffects pooled = analysis::random_effects(runs);
    CHECK(pooled.mean.value == doctest::Approx(2.0));
    CHECK(pooled.mean.standard_error == doctest::Approx(1.0));
    CHECK(pooled.mean.degrees_of_freedom == 1.0);
    CHECK_FALSE(analysis::prediction(runs, 0.95));
}

TEST_CASE("one more of runs without errors of their own lies in Student's t interval of one more value")
{
    // 8, 10, 15: mean 11, standard deviation sqrt(13); half width 4.302653 x sqrt(13 x 4 / 3) = 17.914.
    const std::vector<Mean> runs{{8.0, 1e-4, 20}, {10.0, 1e-4, 20}, {15.0, 1e-4, 20}};
    const auto one_more = analysis::prediction(runs, 0.95);
    REQUIRE(one_more);
    CHECK(one_more->low == doctest::Approx(11.0 - 17.914).epsilon(0.01));
    CHECK(one_more->high == doctest::Approx(11.0 + 17.914).epsilon(0.01));
}

TEST_CASE("one more run lies where draws of the variance and of the mean put it")
{
    // Expected values are from 100,000 draws each, by a Python script: chi-squared squares, the variance between runs
    // that gives them by bisection, then one more run from a normal distribution.
    const std::vector<Mean> apart{
        {10.9, 3.4 / 2.1, 20}, {12.0, 3.5 / 2.1, 20}, {13.9, 2.9 / 2.1, 20}, {17.6, 1.1 / 2.1, 20}};
    CHECK(std::abs(analysis::prediction(apart, 0.95)->low - 3.509) < 0.3);
    CHECK(std::abs(analysis::prediction(apart, 0.95)->high - 23.86) < 0.3);
    const std::vector<Mean> alike{{1.0, 0.2, 20}, {1.2, 0.3, 20}, {1.1, 0.25, 20}};
    CHECK(analysis::prediction(alike, 0.95)->low == doctest::Approx(0.6986).epsilon(0.03));
    CHECK(analysis::prediction(alike, 0.95)->high == doctest::Approx(1.465).epsilon(0.03));
}

TEST_CASE("Welch's test of three groups is that of statsmodels")
{
    // Values 10 12 11 13 9; 12 15 14 11; 20 10 16 18 14 12: means with standard errors.
    const std::vector<Mean> groups{{11.0, 0.707106781, 4}, {13.0, 0.912870929, 3}, {15.0, 1.527525232, 5}};
    CHECK(analysis::p_alike(groups) == doctest::Approx(0.098260).epsilon(1e-4));
    const std::vector<Mean> two{groups[0], groups[1]};
    CHECK(analysis::p_alike(two) == doctest::Approx(0.133588).epsilon(1e-4));
    CHECK(analysis::p_alike(std::vector<Mean>{groups[0]}) == 1.0);
}

TEST_CASE("parts of a run count by their blocks and what differs between them is no error")
{
    // Mean 3/4 x 2 + 1/4 x 6 = 3; error sqrt(9/16 x 0.04 + 1/16 x 0.36) = 0.212132; degrees of freedom (0.0225 +
    // 0.0225)^2 / (0.0225^2 (1/29 + 1/9)).
    const std::vector<Mean> parts{{2.0, 0.2, 29}, {6.0, 0.6, 9}};
    const std::vector<double> blocks{30, 10};
    const Mean mean = analysis::strata_mean(parts, blocks);
    CHECK(mean.value == doctest::Approx(3.0));
    CHECK(mean.standard_error == doctest::Approx(0.2121320).epsilon(1e-5));
    CHECK(mean.degrees_of_freedom == doctest::Approx(27.47368).epsilon(1e-5));
}

TEST_CASE("an interval that holds at all looks is about half as wide again and its p is where it ends at zero")
{
    // 20 blocks: n rho^2 = 7.2; half width in errors sqrt(2 x 8.2 / 7.2 x ln(sqrt(8.2) / 0.025)) = 3.286156.
    Mean mean{1.0, 0.5, 19.0, Looks::on_the_way};
    CHECK(mean.interval(0.95).half_width() == doctest::Approx(0.5 * 3.286156).epsilon(1e-4));
    CHECK(mean.interval(0.95).half_width() > 1.5 * Mean{1.0, 0.5, 19.0}.interval(0.95).half_width());
    mean.standard_error = 1.0 / 3.286156;
    CHECK(mean.p_value() == doctest::Approx(0.05).epsilon(1e-3));
}

TEST_CASE("at the planned end of a run with looks the interval is Student's t at half the error")
{
    // The 98.75 % quantile of Student's t with 19 degrees of freedom is 2.4334 (for 97.5 %: 2.0930).
    Mean mean{1.0, 0.5, 19.0, Looks::at_the_end};
    CHECK(mean.interval(0.95).half_width() == doctest::Approx(0.5 * 2.4334).epsilon(1e-4));
    mean.standard_error = 1.0 / 2.4334;
    CHECK(mean.p_value() == doctest::Approx(0.05).epsilon(1e-3));
}

TEST_CASE("a part that was added to a run with looks ends where no end was planned")
{
    const Mean ended{1.0, 0.5, 19.0, Looks::at_the_end};
    const std::vector<Mean> extended{ended, {1.0, 0.5, 19.0}};
    CHECK(analysis::looks_together(std::vector{Looks::at_the_end}) == Looks::at_the_end);
    CHECK(analysis::looks_together(std::vector{Looks::at_the_end, Looks::none}) == Looks::on_the_way);
    CHECK(analysis::strata_mean(std::vector{ended}, std::vector{1.0}).looks == Looks::at_the_end);
    CHECK(analysis::strata_mean(extended, std::vector{1.0, 1.0}).looks == Looks::on_the_way);
    CHECK(analysis::looks_together(std::vector{Looks::none, Looks::none}) == Looks::none);
}

TEST_CASE("bounds of rare events and other estimates are pooled with their runs")
{
    // Two equal parts, each of which may have missed an event of 2: the mean may have missed one of 1.
    Mean part{0.0, 0.1, 100.0};
    part.more = {0.0, 0.0, 2.0};
    part.or_else = {true, 3.0, 0.5, {}, {}};
    const std::vector<Mean> parts{part, part};
    const Mean pooled = analysis::strata_mean(parts, std::vector{1.0, 1.0});
    CHECK(pooled.more.largest == doctest::Approx(1.0));
    REQUIRE(pooled.or_else.any);
    CHECK(pooled.or_else.value == doctest::Approx(3.0));
    CHECK(pooled.or_else.standard_error == doctest::Approx(0.5 / std::sqrt(2.0)));
    // With no event, the upper bound of their number is 3.69 (half of chi-square's 97.5 % quantile with two degrees of
    // freedom).
    Mean met = part;
    met.or_else = {};
    const std::vector<Mean> both{met, met};
    CHECK(analysis::strata_mean(both, std::vector{1.0, 1.0}).interval(0.95).high ==
          doctest::Approx(3.69).epsilon(0.01));
    CHECK(analysis::random_effects(both).mean.more.largest == doctest::Approx(1.0));
}
