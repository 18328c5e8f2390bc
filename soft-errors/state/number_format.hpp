// SPDX-License-Identifier: Apache-2.0
// Formats of a tensor's numbers in a file, and their bits. Bits count from the left: bit 0 is the sign of a
// floating-point number (or the highest bit of an integer), then come exponent and fraction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace soft_errors {

struct NumberFormat {
    enum class Kind { floating, whole, natural };  // whole: signed integer; natural: unsigned integer
    Kind kind = Kind::floating;
    int bytes = 4;          // 1, 2, 4 or 8
    int exponent_bits = 8;  // for Kind::floating
    bool big_endian = false;

    int bits() const { return 8 * bytes; }
    auto operator<=>(const NumberFormat&) const = default;
};

inline constexpr NumberFormat float16{.bytes = 2, .exponent_bits = 5};
inline constexpr NumberFormat bfloat16{.bytes = 2, .exponent_bits = 8};
inline constexpr NumberFormat float32{.bytes = 4, .exponent_bits = 8};
inline constexpr NumberFormat float64{.bytes = 8, .exponent_bits = 11};

// "float32", "bfloat16", "int64", "uint8"; big-endian ones end in "-be".
std::string format_name(const NumberFormat& format);
std::optional<NumberFormat> format_named(const std::string& name);

// Reads and writes a number's bits as an integer, whose highest bit is bit 0 of the number.
std::uint64_t load_bits(const NumberFormat& format, const std::byte* at);
void store_bits(const NumberFormat& format, std::uint64_t bits, std::byte* at);

// The integer in which only this bit, counted from the left, is set.
std::uint64_t bit_from_left(const NumberFormat& format, int bit);

// "1" or "1 4 9": the bits that are set, counted from the left.
std::string bits_text(const NumberFormat& format, std::uint64_t bits);

// "0x3c23d70a", with all digits of the format.
std::string hexadecimal(const NumberFormat& format, std::uint64_t bits);

// Exact, except for integers beyond 2^53.
double value_of(const NumberFormat& format, std::uint64_t bits);

// The shortest text that parses to the same number; or "inf", "-inf", "nan".
std::string value_text(const NumberFormat& format, std::uint64_t bits);

// The nearest number of a floating-point format, on a tie the even one; infinite beyond the largest.
std::uint64_t nearest_bits(const NumberFormat& format, double value);

// Always true for integers.
bool is_finite(const NumberFormat& format, std::uint64_t bits);

}  // namespace soft_errors
