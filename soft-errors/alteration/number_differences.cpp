// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/alteration/number_differences.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace soft_errors {

namespace {

// Position of a number in ascending order: neighbours differ by one, and -0 equals +0.
std::int64_t place_in_order(const NumberFormat& format, std::uint64_t bits)
{
    const std::uint64_t sign = bit_from_left(format, 0);
    const auto size = static_cast<std::int64_t>(bits & (sign - 1));
    return (bits & sign) != 0 ? -size : size;
}

std::uint64_t steps_between(const NumberFormat& format, std::uint64_t first, std::uint64_t second)
{
    if (format.kind == NumberFormat::Kind::natural) return std::max(first, second) - std::min(first, second);
    if (format.kind == NumberFormat::Kind::whole) {
        const std::uint64_t sign = bit_from_left(format, 0);  // flipping the sign bit makes unsigned comparison correct
        return std::max(first ^ sign, second ^ sign) - std::min(first ^ sign, second ^ sign);
    }
    const std::int64_t one = place_in_order(format, first);
    const std::int64_t other = place_in_order(format, second);
    return static_cast<std::uint64_t>(std::max(one, other)) - static_cast<std::uint64_t>(std::min(one, other));
}

void add_one(const NumberFormat& format, std::uint64_t first, std::uint64_t second, NumberDifferences& all)
{
    std::uint64_t flipped = first ^ second;
    ++all.differing;
    for (; flipped != 0; flipped &= flipped - 1)
        ++all.flips.at(static_cast<std::size_t>(format.bits() - 1 - std::countr_zero(flipped)));
    if (!is_finite(format, first) || !is_finite(format, second)) return;
    const double difference = value_of(format, second) - value_of(format, first);
    all.squares.add(difference);
    all.largest = std::max(all.largest, std::abs(difference));
    all.ulp_largest = std::max(all.ulp_largest, steps_between(format, first, second));
}

// Sums in eight lanes, which the compiler vectorises. Numbers that are not finite are left out.
void add_float32(std::span<const std::byte> first, std::span<const std::byte> second, NumberDifferences& all)
{
    constexpr std::uint32_t exponent = 0x7f800000;
    constexpr std::size_t lanes = 8;
    const std::size_t count = first.size() / sizeof(float);
    std::array<double, lanes> squares{};
    std::array<std::uint32_t, lanes> not_finite{};
    const auto lane = [&](std::size_t at, std::size_t i) {
        std::uint32_t one = 0;
        std::uint32_t other = 0;
        std::memcpy(&one, first.data() + 4 * at, 4);
        std::memcpy(&other, second.data() + 4 * at, 4);
        not_finite[i] += (other & exponent) == exponent ? 1U : 0U;
        const std::uint32_t counts = (one & exponent) == exponent ? 0 : one;
        const auto value = static_cast<double>(std::bit_cast<float>(counts));
        squares[i] += value * value;
    };
    std::size_t at = 0;
    for (; at + lanes <= count; at += lanes)
        for (std::size_t i = 0; i < lanes; ++i) lane(at + i, i);
    for (; at < count; ++at) lane(at, 0);
    for (std::size_t i = 0; i < lanes; ++i) {
        all.first_squares.add_squares(squares[i]);  // sums of float32 squares fit into a double
        all.not_finite += not_finite[i];
    }
}

void add_any(const NumberFormat& format, std::span<const std::byte> first, std::span<const std::byte> second,
             NumberDifferences& all)
{
    const auto size = static_cast<std::size_t>(format.bytes);
    for (std::size_t at = 0; at < first.size(); at += size) {
        all.not_finite += is_finite(format, load_bits(format, second.data() + at)) ? 0 : 1;
        const std::uint64_t bits = load_bits(format, first.data() + at);
        if (!is_finite(format, bits)) continue;
        all.first_squares.add(value_of(format, bits));
    }
}

}  // namespace

void add_differences(const NumberFormat& format, std::span<const std::byte> first, std::span<const std::byte> second,
                     NumberDifferences& all)
{
    constexpr std::size_t piece = 4096;
    const auto size = static_cast<std::size_t>(format.bytes);
    if (format == float32)
        add_float32(first, second, all);
    else
        add_any(format, first, second, all);
    for (std::size_t begin = 0; begin < first.size(); begin += piece) {
        const std::size_t end = std::min(begin + piece, first.size());
        if (std::memcmp(first.data() + begin, second.data() + begin, end - begin) == 0) continue;
        for (std::size_t at = begin; at < end; at += size)
            if (std::memcmp(first.data() + at, second.data() + at, size) != 0)
                add_one(format, load_bits(format, first.data() + at), load_bits(format, second.data() + at), all);
    }
}

}  // namespace soft_errors
