// SPDX-License-Identifier: Apache-2.0
// IEEE 754 half precision (binary16), stored as bits, for exchanges of half the size: C++20 has no type for it.
#pragma once

#include <bit>
#include <cstdint>

namespace ddl {

struct Half {
    std::uint16_t bits = 0;
    bool operator==(const Half&) const = default;
};

// Rounds to nearest, ties to even; values that are too large become infinite. Every NaN becomes the same NaN.
constexpr Half to_half(float value)
{
    const auto whole = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(whole >> 16U & 0x8000U);
    const std::uint32_t magnitude = whole & 0x7fffffffU;
    constexpr std::uint32_t infinite = 0x7f800000U;
    constexpr std::uint32_t too_large = 0x477ff000U;     // halfway from the largest half, 65504, to 65536
    constexpr std::uint32_t least_normal = 0x38800000U;  // 2^-14
    if (magnitude > infinite) return {0x7e00U};
    std::uint32_t bits = 0;
    if (magnitude >= too_large) {
        bits = 0x7c00U;
    } else if (magnitude >= least_normal) {
        const std::uint32_t odd = magnitude >> 13U & 1U;
        bits = (magnitude - (112U << 23U) + 0xfffU + odd) >> 13U;
    } else {
        // Adding 1/2 moves the bits of a subnormal half to the lowest bits, rounded as floats are.
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        bits = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
    }
    return {static_cast<std::uint16_t>(sign | bits)};
}

// Exact: every half is a float.
constexpr float to_float(Half value)
{
    const auto sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = value.bits & 0x7fffU;
    std::uint32_t bits = 0;
    if (magnitude >= 0x7c00U)
        bits = 0x7f800000U | (magnitude & 0x3ffU) << 13U;
    else if (magnitude >= 0x400U)
        bits = (magnitude << 13U) + (112U << 23U);
    else
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
    return std::bit_cast<float>(sign | bits);
}

}  // namespace ddl
