// SPDX-License-Identifier: Apache-2.0
// A straight line through a few values; expected values are by hand.
#include "analysis/estimate/trend.hpp"

#include <doctest/doctest.h>

#include <array>

TEST_CASE("the slope of a line through three values has one degree of freedom")
{
    // Means 1 and 11; slope (-1 x -3 + 1 x 4) / 2 = 3.5; residuals 0.5, -1, 0.5, squares 1.5; standard error sqrt(1.5 /
    // 1 / 2) = 0.8660; Student's t with one degree of freedom 12.706.
    const std::array x{0.0, 1.0, 2.0};
    const std::array y{8.0, 10.0, 15.0};
    const auto slope = analysis::slope(x, y);
    REQUIRE(slope);
    CHECK(slope->value == doctest::Approx(3.5));
    CHECK(slope->standard_error == doctest::Approx(0.8660).epsilon(1e-4));
    CHECK(slope->interval(0.95).high == doctest::Approx(3.5 + 12.706 * 0.8660).epsilon(1e-4));
}

TEST_CASE("there is no line through two values or values of one time")
{
    const std::array two{0.0, 1.0};
    const std::array same{1.0, 1.0, 1.0};
    const std::array y{1.0, 2.0, 3.0};
    CHECK_FALSE(analysis::slope(two, two));
    CHECK_FALSE(analysis::slope(same, y));
}
