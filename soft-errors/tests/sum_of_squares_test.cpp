// SPDX-License-Identifier: Apache-2.0
// Norms of numbers whose squares do not fit into a double.
#include "soft-errors/state/sum_of_squares.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

double norm_of(const std::vector<double>& numbers)
{
    soft_errors::SumOfSquares sum;
    for (const double number : numbers) sum.add(number);
    return sum.root();
}

}  // namespace

TEST_CASE("a norm is exact to rounding where squares overflow or vanish")
{
    constexpr double largest = std::numeric_limits<double>::max();
    constexpr double least = std::numeric_limits<double>::denorm_min();
    CHECK(norm_of({}) == 0.0);
    CHECK(norm_of({0.0, -0.0}) == 0.0);
    CHECK(norm_of({3.0, -4.0}) == 5.0);
    // 3, 4, 5, times powers of ten over the range of a double.
    for (const double scale : {1e-307, 1e-200, 1e-139, 1e-130, 1e130, 1e139, 1e200, 1e307}) {
        CAPTURE(scale);
        CHECK(norm_of({3.0 * scale, 4.0 * scale}) == doctest::Approx(5.0 * scale).epsilon(1e-14));
    }
    CHECK(norm_of({-1e200}) == doctest::Approx(1e200).epsilon(1e-15));
    CHECK(norm_of({largest}) == doctest::Approx(largest).epsilon(1e-15));
    CHECK(norm_of({least}) == least);
    CHECK(norm_of({1e200, 1.0, 1e-200}) == doctest::Approx(1e200).epsilon(1e-15));
    CHECK(norm_of({1e-200, 1.0}) == 1.0);
    // Numbers on both sides of a border: sqrt(1 + 1 + 1) times 2^460 and 2^-460.
    for (const double border : {0x1p460, 0x1p-460})
        CHECK(norm_of({border, border * 1.0000001, border * 0.9999999}) ==
              doctest::Approx(std::sqrt(3.0) * border).epsilon(1e-7));
    CHECK(std::isinf(norm_of({largest, largest})));  // the norm is larger than any double
}

TEST_CASE("sums of squares add up as if their numbers were one row")
{
    soft_errors::SumOfSquares first;
    first.add(3e180);
    soft_errors::SumOfSquares second;
    second.add(4e180);
    second.add_squares(25.0);
    first.add(second);
    CHECK(first.root() == doctest::Approx(5e180).epsilon(1e-14));
}
