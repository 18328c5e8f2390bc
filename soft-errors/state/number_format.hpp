// SPDX-License-Identifier: Apache-2.0
// How a number of a tensor stands in a file, and its bits. Bits count from the left: 0 is the sign of a floating-point
// number (the highest bit of any other), then come exponent and fraction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace soft_errors {

struct NumberFormat {
    enum class Kind { floating, whole, natural };  // natural: without a sign
    Kind kind = Kind::floating;
    int bytes = 4;          // 1, 2, 4 or 8
    int exponent_bits = 8;  // of a floating one
    bool big_endian = false;

    int bits() const { return 8 * bytes; }
    auto operator<=>(const NumberFormat&) const = default;
};

inline constexpr NumberFormat float16{.bytes = 2, .exponent_bits = 5};
inline constexpr NumberFormat bfloat16{.bytes = 2, .exponent_bits = 8};
inline constexpr NumberFormat float32{.bytes = 4, .exponent_bits = 8};
inline constexpr NumberFormat float64{.bytes = 8, .exponent_bits = 11};

// "float32", "bfloat16", "int64", "uint8"; of big-endian ones "float32-be".
std::string format_name(const NumberFormat& format);
std::optional<NumberFormat> format_named(const std::string& name);

// The bits as a number: bit 0 is the highest of them.
std::uint64_t load_bits(const NumberFormat& format, const std::byte* at);
void store_bits(const NumberFormat& format, std::uint64_t bits, std::byte* at);

// The one bit, counted from the left.
std::uint64_t bit_from_left(const NumberFormat& format, int bit);

// "1" or "1 4 9": the bits that are set, counted from the left.
std::string bits_text(const NumberFormat& format, std::uint64_t bits);

// "0x3c23d70a"; reads any such number that the format holds.
std::string hexadecimal(const NumberFormat& format, std::uint64_t bits);

// Exact, but for whole numbers beyond 2^53.
double value_of(const NumberFormat& format, std::uint64_t bits);

// The shortest text that reads back as the same number; "inf", "-inf", "nan".
std::string value_text(const NumberFormat& format, std::uint64_t bits);

// The nearest number of a floating format, of two the even one; beyond the largest: infinite.
std::uint64_t nearest_bits(const NumberFormat& format, double value);

// Whole numbers always are.
bool is_finite(const NumberFormat& format, std::uint64_t bits);

}  // namespace soft_errors
