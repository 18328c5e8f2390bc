// SPDX-License-Identifier: Apache-2.0
// Intervals of probabilities and paired comparisons, compared with published values and sums by hand.
#include "base/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

namespace {

constexpr double confidence = 0.95;

// The probability that an interval contains p, summed over all counts of n trials.
double coverage(double p, int n, const std::function<base::Interval(int)>& interval)
{
    double covered = 0.0;
    double chance = std::pow(1.0 - p, n);  // probability of a count of 0, then of the next count
    for (int count = 0; count <= n; ++count) {
        if (interval(count).contains(p)) covered += chance;
        chance *= (n - count) / (count + 1.0) * p / (1.0 - p);
    }
    return covered;
}

base::Interval wald(int count, int n)
{
    const double p = static_cast<double>(count) / n;
    const double half = 1.959964 * std::sqrt(p * (1.0 - p) / n);
    return {p - half, p + half};
}

}  // namespace

TEST_CASE("three of a hundred are 1.03 to 8.45 per cent, none up to 3.70")
{
    const base::Interval three = base::wilson(3, 100, confidence);
    CHECK(100.0 * three.low == doctest::Approx(1.03).epsilon(0.005));
    CHECK(100.0 * three.high == doctest::Approx(8.45).epsilon(0.001));
    const base::Interval none = base::wilson(0, 100, confidence);
    CHECK(none.low == 0.0);
    CHECK(100.0 * none.high == doctest::Approx(3.70).epsilon(0.002));
    CHECK(base::wilson(100, 100, confidence).high == 1.0);
    CHECK(base::wilson(0, 0, confidence).high == 1.0);
}

TEST_CASE("of none in a hundred Clopper and Pearson say up to 3.62 per cent")
{
    // The bound solves (1 - x)^100 = 0.025.
    CHECK(base::clopper_pearson(0, 100, confidence).high == doctest::Approx(1.0 - std::pow(0.025, 0.01)));
    CHECK(100.0 * base::clopper_pearson(0, 100, confidence).high == doctest::Approx(3.62).epsilon(0.001));
    CHECK(base::clopper_pearson(100, 100, confidence).low == doctest::Approx(std::pow(0.025, 0.01)));
    const base::Interval five = base::clopper_pearson(5, 10, confidence);  // published: 0.187 to 0.813
    CHECK(five.low == doctest::Approx(0.187).epsilon(0.002));
    CHECK(five.high == doctest::Approx(0.813).epsilon(0.002));
}

TEST_CASE("of a rare outcome Wilson's interval covers where Wald's does not")
{
    const double wilsons = coverage(0.01, 100, [](int count) { return base::wilson(count, 100, confidence); });
    const double walds = coverage(0.01, 100, [](int count) { return wald(count, 100); });
    const double exact = coverage(0.01, 100, [](int count) { return base::clopper_pearson(count, 100, confidence); });
    CHECK(wilsons == doctest::Approx(0.92).epsilon(0.005));
    CHECK(walds == doctest::Approx(0.63).epsilon(0.01));
    CHECK(exact >= confidence);
}

TEST_CASE("five points either way take 381 trials, one point 9,600")
{
    CHECK(base::trials_for_half_width(0.05, confidence) == 381);
    CHECK(base::trials_for_half_width(0.01, confidence) == 9600);
    CHECK(base::wilson(190.5, 381, confidence).half_width() <= 0.05);
    CHECK(base::wilson(190, 380, confidence).half_width() > 0.05);
}

TEST_CASE("one against nine is no chance, two against eight may be")
{
    CHECK(base::mcnemar_p(1, 9) == doctest::Approx(2.0 * (1 + 10) / 1024));
    CHECK(base::mcnemar_p(8, 2) == doctest::Approx(2.0 * (1 + 10 + 45) / 1024));
    CHECK(base::mcnemar_p(3, 3) == 1.0);
    CHECK(base::mcnemar_p(0, 0) == 1.0);
    CHECK(base::mcnemar_least_difference(10, 0.05) == 8);
    CHECK(base::mcnemar_least_difference(6, 0.05) == 6);
    CHECK_FALSE(base::mcnemar_least_difference(5, 0.05));
}
