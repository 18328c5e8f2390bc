// SPDX-License-Identifier: Apache-2.0
// Computes the differences between two rows of numbers of one type.
#pragma once

#include "soft-errors/state/number_format.hpp"
#include "soft-errors/state/sum_of_squares.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace soft_errors {

struct NumberDifferences {
    std::uint64_t differing = 0;
    SumOfSquares squares = {};        // of second minus first, finite numbers only
    SumOfSquares first_squares = {};  // of the first, finite numbers only
    double largest = 0.0;
    std::uint64_t ulp_largest = 0;
    std::uint64_t not_finite = 0;
    std::array<std::uint64_t, 64> flips{};  // [bit from the left]
};

// Adds the differences between two rows with the same number of numbers.
void add_differences(const NumberFormat& format, std::span<const std::byte> first, std::span<const std::byte> second,
                     NumberDifferences& all);

}  // namespace soft_errors
