// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/state/number_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace soft_errors {

namespace {

int fraction_bits(const NumberFormat& format)
{
    return format.bits() - 1 - format.exponent_bits;
}

std::uint64_t lowest_bits(int count)
{
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << static_cast<unsigned>(count)) - 1;
}

std::uint64_t sign_of(const NumberFormat& format)
{
    return bit_from_left(format, 0);
}

std::int64_t signed_value(const NumberFormat& format, std::uint64_t bits)
{
    const auto unused = static_cast<unsigned>(64 - format.bits());
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

double half_value(const NumberFormat& format, std::uint64_t bits)
{
    const int fraction = fraction_bits(format);
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>((bits & ~sign_of(format)) >> static_cast<unsigned>(fraction));
    const auto significand = static_cast<double>(bits & lowest_bits(fraction));
    const double sign = (bits & sign_of(format)) != 0 ? -1.0 : 1.0;
    if (!is_finite(format, bits))
        return significand == 0.0 ? sign * std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
    const double hidden = exponent == 0 ? 0.0 : std::ldexp(1.0, fraction);
    return sign * std::ldexp(hidden + significand, std::max(exponent, 1) - bias - fraction);
}

template <class Number>
std::string shortest(Number number)
{
    std::array<char, 40> text{};
    const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), end};
}

}  // namespace

std::string format_name(const NumberFormat& format)
{
    std::string name = format.kind == NumberFormat::Kind::whole ? "int" : "uint";
    if (format.kind == NumberFormat::Kind::floating)
        name = format.bytes == 2 && format.exponent_bits == 8 ? "bfloat" : "float";
    return name + std::to_string(format.bits()) + (format.big_endian && format.bytes > 1 ? "-be" : "");
}

std::optional<NumberFormat> format_named(const std::string& name)
{
    for (const bool big_endian : {false, true}) {
        for (NumberFormat format : {float16, bfloat16, float32, float64}) {
            format.big_endian = big_endian;
            if (format_name(format) == name) return format;
        }
        for (const auto kind : {NumberFormat::Kind::whole, NumberFormat::Kind::natural})
            for (const int bytes : {1, 2, 4, 8}) {
                const NumberFormat format{
                    .kind = kind, .bytes = bytes, .exponent_bits = 0, .big_endian = big_endian && bytes > 1};
                if (format_name(format) == name) return format;
            }
    }
    return std::nullopt;
}

std::uint64_t load_bits(const NumberFormat& format, const std::byte* at)
{
    std::uint64_t bits = 0;
    for (int i = 0; i < format.bytes; ++i)
        bits = bits << 8U | static_cast<std::uint64_t>(at[format.big_endian ? i : format.bytes - 1 - i]);
    return bits;
}

void store_bits(const NumberFormat& format, std::uint64_t bits, std::byte* at)
{
    for (int i = 0; i < format.bytes; ++i, bits >>= 8U)
        at[format.big_endian ? format.bytes - 1 - i : i] = static_cast<std::byte>(bits);
}

std::uint64_t bit_from_left(const NumberFormat& format, int bit)
{
    return std::uint64_t{1} << static_cast<unsigned>(format.bits() - 1 - bit);
}

std::string bits_text(const NumberFormat& format, std::uint64_t bits)
{
    std::string text;
    for (std::uint64_t left = bits; left != 0; left &= ~std::bit_floor(left)) {
        if (!text.empty()) text += ' ';
        text += std::to_string(std::countl_zero(left) - (64 - format.bits()));
    }
    return text;
}

std::string hexadecimal(const NumberFormat& format, std::uint64_t bits)
{
    constexpr auto digits = "0123456789abcdef";
    std::string text(static_cast<std::size_t>(2 * format.bytes), '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, bits >>= 4U) *digit = digits[bits & 15U];
    return "0x" + text;
}

double value_of(const NumberFormat& format, std::uint64_t bits)
{
    switch (format.kind) {
        case NumberFormat::Kind::whole:
            return static_cast<double>(signed_value(format, bits));
        case NumberFormat::Kind::natural:
            return static_cast<double>(bits);
        case NumberFormat::Kind::floating:
            break;
    }
    if (format.bytes == 8) return std::bit_cast<double>(bits);
    if (format.bytes == 4) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    return half_value(format, bits);
}

std::string value_text(const NumberFormat& format, std::uint64_t bits)
{
    if (format.kind == NumberFormat::Kind::whole) return shortest(signed_value(format, bits));
    if (format.kind == NumberFormat::Kind::natural) return shortest(bits);
    const double value = value_of(format, bits);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return format.bytes == 8 ? shortest(value) : shortest(static_cast<float>(value));
}

std::uint64_t nearest_bits(const NumberFormat& format, double value)
{
    const int fraction = fraction_bits(format);
    const std::uint64_t infinite = lowest_bits(format.exponent_bits) << static_cast<unsigned>(fraction);
    const std::uint64_t sign = std::signbit(value) ? sign_of(format) : 0;
    if (std::isnan(value)) return infinite | std::uint64_t{1} << static_cast<unsigned>(fraction - 1);
    if (std::isinf(value)) return sign | infinite;
    if (value == 0.0) return sign;
    const int lowest_exponent = 2 - (1 << (format.exponent_bits - 1));
    const int exponent = std::max(std::ilogb(value), lowest_exponent);
    // The significand's hidden bit adds 1 to the exponent field; a subnormal number has none.
    const auto significand =
        static_cast<std::uint64_t>(std::nearbyint(std::ldexp(std::abs(value), fraction - exponent)));
    const auto steps = static_cast<std::uint64_t>(exponent - lowest_exponent);
    return sign | std::min((steps << static_cast<unsigned>(fraction)) + significand, infinite);
}

bool is_finite(const NumberFormat& format, std::uint64_t bits)
{
    if (format.kind != NumberFormat::Kind::floating) return true;
    const std::uint64_t exponent = lowest_bits(format.exponent_bits) << static_cast<unsigned>(fraction_bits(format));
    return (bits & exponent) != exponent;
}

}  // namespace soft_errors
