// What differs between two rows of numbers of one type.
#pragma once

#include "base/state/number_format.hpp"
#include "base/state/sum_of_squares.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace noisegen {

struct NumberDifferences {
    std::uint64_t differing = 0;
    base::SumOfSquares squares = {};        // of second minus first
    base::SumOfSquares first_squares = {};  // of the first
    double largest = 0.0;
    std::uint64_t ulp_largest = 0;
    std::uint64_t not_finite = 0;
    std::array<std::uint64_t, 64> flips{};  // from the left
};

// Adds what differs between equally many whole numbers of bytes.
void add_differences(const base::NumberFormat& format, std::span<const std::byte> first,
                     std::span<const std::byte> second, NumberDifferences& all);

}  // namespace noisegen
