// SPDX-License-Identifier: Apache-2.0
// Intervals of means and of rare events, compared with tables of the chi-square distribution.
#include "base/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <utility>

using base::Interval;
using base::Mean;
using base::RareEvents;

// For events of equal weight the interval of Fay and Feuer is that of a Poisson count (Garwood 1936): from chi2(0.025,
// 2 n) / 2 to chi2(0.975, 2 n + 2) / 2 events.
TEST_CASE("no event of a kind that there could have been leaves room for 3.689 of them")
{
    const Interval interval = RareEvents{0.0, 0.0, 1.0}.interval(0.95);
    CHECK(interval.low == 0.0);
    CHECK(interval.high == doctest::Approx(3.689).epsilon(2e-4));  // chi2(0.975, 2) = 7.378
}

TEST_CASE("one event may have been one of 0.0253 to 5.572")
{
    const Interval interval = RareEvents{1.0, 1.0, 1.0}.interval(0.95);
    CHECK(interval.low == doctest::Approx(0.0253).epsilon(1e-3));  // chi2(0.025, 2) = 0.0506
    CHECK(interval.high == doctest::Approx(5.572).epsilon(2e-4));  // chi2(0.975, 4) = 11.143
}

TEST_CASE("ten events of two units each are 9.591 to 36.781 units")
{
    const Interval interval = RareEvents{20.0, 40.0, 2.0}.interval(0.95);
    CHECK(interval.low == doctest::Approx(9.591).epsilon(1e-4));    // chi2(0.025, 20)
    CHECK(interval.high == doctest::Approx(36.781).epsilon(1e-4));  // chi2(0.975, 22)
    // The quantiles are chi2(0.05, 20) and chi2(0.95, 22).
    CHECK(RareEvents{20.0, 40.0, 2.0}.interval(0.90).low == doctest::Approx(10.851).epsilon(1e-4));
    CHECK(RareEvents{20.0, 40.0, 2.0}.interval(0.90).high == doctest::Approx(33.924).epsilon(1e-4));
}

TEST_CASE("sums of rare events add up, and the largest of all is the largest")
{
    RareEvents events{1.0, 1.0, 1.0};
    events.add({6.0, 20.0, 4.0});
    events.add({0.0, 0.0, 3.0});
    CHECK(events.sum == 7.0);
    CHECK(events.variance == 21.0);
    CHECK(events.largest == 4.0);
}

TEST_CASE("the interval of a mean without rare events is Student's")
{
    // The quantile is t(0.975, 19) = 2.0930.
    const Interval interval = Mean{3.0, 0.5, 19.0}.interval(0.95);
    CHECK(interval.low == doctest::Approx(3.0 - 1.0465).epsilon(1e-4));
    CHECK(interval.high == doctest::Approx(3.0 + 1.0465).epsilon(1e-4));
}

TEST_CASE("the degrees of freedom of a sum of variances are the weighted mean of its terms', by squares")
{
    CHECK(base::joint_degrees_of_freedom({{2.0, 9.0}, {2.0, 9.0}}) == doctest::Approx(18.0));
    CHECK(base::joint_degrees_of_freedom({{4.0, 4.0}, {1.0, 10.0}}) == doctest::Approx(25.0 / 4.1));
    CHECK(base::joint_degrees_of_freedom({{3.0, 7.0}, {0.0, 2.0}}) == doctest::Approx(7.0));
}

TEST_CASE("an event that is all of a mean's spread widens it as the event's own interval does, upwards more")
{
    Mean mean{2.0, 1.0, 19.0};
    mean.more = {1.0, 1.0, 1.0};
    CHECK(mean.interval(0.95).low == doctest::Approx(2.0 - (1.0 - 0.0253)).epsilon(1e-4));
    CHECK(mean.interval(0.95).high == doctest::Approx(2.0 + 4.572).epsilon(1e-4));
    // Rare events in quiet are subtracted from the value, so the interval is mirrored.
    mean.fewer = std::exchange(mean.more, {});
    CHECK(mean.interval(0.95).low == doctest::Approx(2.0 - 4.572).epsilon(1e-4));
    CHECK(mean.interval(0.95).high == doctest::Approx(2.0 + (1.0 - 0.0253)).epsilon(1e-4));
}

TEST_CASE("the spread of the blocks and that of rare events add up in squares")
{
    // No event occurred, though one could have on each side; the blocks alone give 2.0930 x 2.
    Mean mean{0.0, 2.0, 19.0};
    mean.more = mean.fewer = {0.0, 0.0, 1.0};
    const double half = std::hypot(2.0930 * 2.0, 3.6889);
    CHECK(mean.interval(0.95).high == doctest::Approx(half).epsilon(1e-4));
    CHECK(mean.interval(0.95).low == doctest::Approx(-half).epsilon(1e-4));
}
