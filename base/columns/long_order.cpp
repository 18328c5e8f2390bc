// SPDX-License-Identifier: Apache-2.0
#include "base/columns/long_order.hpp"

#include "base/statistics.hpp"

#include <bit>

namespace base {

namespace {

constexpr std::size_t most_in_memory = std::size_t{1} << 17U;

// Maps doubles to unsigned numbers in the same order: flips the sign bit, and all bits of negative numbers.
std::uint64_t key_of(double value)
{
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // minus zero becomes zero
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

double value_of(std::uint64_t key)
{
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    return std::bit_cast<double>((key & sign) != 0 ? key & ~sign : ~key);
}

std::vector<double> values_of(const LongColumn<double>& column, std::size_t from, std::size_t until)
{
    std::vector<double> values;
    for (std::size_t i = from; i < until; ++i) values.push_back(column[i]);
    return values;
}

}  // namespace

// Determines the key sixteen bits at a time, by counting the values in each range.
double nth_value(const LongColumn<double>& column, std::size_t from, std::size_t until, std::size_t rank)
{
    std::uint64_t known = 0;
    for (unsigned shift = 64; shift > 0;) {
        const unsigned above = shift;
        shift -= 16;
        std::vector<std::size_t> counts(std::size_t{1} << 16U, 0);
        for (std::size_t i = from; i < until; ++i) {
            const std::uint64_t key = key_of(column[i]);
            if (above < 64 && (key >> above) != (known >> above)) continue;
            ++counts[(key >> shift) & 0xffffU];
        }
        std::uint64_t place = 0;
        for (; rank >= counts[place]; ++place) rank -= counts[place];
        known |= place << shift;
    }
    return value_of(known);
}

double median(const LongColumn<double>& column, std::size_t from, std::size_t until)
{
    const std::size_t count = until - from;
    if (count <= most_in_memory) return median(values_of(column, from, until));
    const double upper = nth_value(column, from, until, count / 2);
    if (count % 2 == 1) return upper;
    return (upper + nth_value(column, from, until, count / 2 - 1)) / 2.0;
}

double median(const LongColumn<double>& column)
{
    return median(column, 0, column.size());
}

}  // namespace base
