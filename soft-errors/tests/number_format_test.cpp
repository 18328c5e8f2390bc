// SPDX-License-Identifier: Apache-2.0
// Numbers and their bits: facts of IEEE 754 from published counts.
#include "soft-errors/state/number_format.hpp"

#include "base/random.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace {

using soft_errors::NumberFormat;

double flipped(const NumberFormat& format, double value, int bit)
{
    return soft_errors::value_of(format,
                                 soft_errors::nearest_bits(format, value) ^ soft_errors::bit_from_left(format, bit));
}

// Counts the numbers within (-2, 2) by their value after this bit flipped.
struct Outcomes {
    int numbers = 0;
    int beyond = 0;  // 2 or more, or not finite
    int infinite = 0;
    int not_a_number = 0;
};

Outcomes outcomes(const NumberFormat& format, int bit)
{
    Outcomes all;
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
        const double before = soft_errors::value_of(format, bits);
        if (!(std::abs(before) < 2.0)) continue;
        const double after = soft_errors::value_of(format, bits ^ soft_errors::bit_from_left(format, bit));
        ++all.numbers;
        all.beyond += std::abs(after) < 2.0 ? 0 : 1;
        all.infinite += std::isinf(after) ? 1 : 0;
        all.not_a_number += std::isnan(after) ? 1 : 0;
    }
    return all;
}

}  // namespace

TEST_CASE("the highest bit of the exponent makes 0.01 huge and 1 infinite and 1.5 no number and 2 zero")
{
    CHECK(flipped(soft_errors::float32, 0.01, 1) == doctest::Approx(3.4028e36).epsilon(1e-4));
    CHECK(std::isinf(flipped(soft_errors::float32, 1.0, 1)));
    CHECK(std::isnan(flipped(soft_errors::float32, 1.5, 1)));
    CHECK(flipped(soft_errors::float32, 2.0, 1) == 0.0);
    CHECK(flipped(soft_errors::float32, 3.0, 0) == -3.0);
}

TEST_CASE("of 20000 weights no other bit than 1 makes any exceed 1000")
{
    base::Random random = base::random_stream(1, 2);
    for (int i = 0; i < 20'000; ++i) {
        const double weight = 0.05 * base::draw_normal(random);
        for (int bit = 0; bit < 32; ++bit) {
            const bool exceeds = std::abs(flipped(soft_errors::float32, weight, bit)) > 1e3;
            if (exceeds != (bit == 1)) FAIL("weight ", weight, " bit ", bit);
        }
    }
}

TEST_CASE("bit 1 takes each number below 2 out of that range and no other bit takes any")
{
    for (const NumberFormat& format : {soft_errors::float16, soft_errors::bfloat16})
        for (int bit = 0; bit < 16; ++bit) {
            const Outcomes all = outcomes(format, bit);
            CHECK(all.numbers == 32'768);
            CHECK(all.beyond == (bit == 1 ? 32'768 : 0));
            CHECK(all.infinite == (bit == 1 ? 2 : 0));
            CHECK(all.not_a_number == (bit != 1 ? 0 : format == soft_errors::float16 ? 2'046 : 254));
        }
}

TEST_CASE("known numbers in half precision")
{
    CHECK(soft_errors::value_of(soft_errors::float16, 0x3c00) == 1.0);
    CHECK(soft_errors::value_of(soft_errors::float16, 0x7bff) == 65504.0);
    CHECK(soft_errors::value_of(soft_errors::float16, 0x0001) == std::ldexp(1.0, -24));
    CHECK(soft_errors::value_of(soft_errors::bfloat16, 0x3f80) == 1.0);
    CHECK(soft_errors::value_of(soft_errors::bfloat16, 0xc2f7) == -123.5);
}

TEST_CASE("the nearest number of a format is that of the processor")
{
    base::Random random = base::random_stream(3, 4);
    for (int i = 0; i < 20'000; ++i) {
        const double value = std::bit_cast<double>(random());
        if (std::isnan(value)) continue;
        const auto nearest = std::bit_cast<std::uint32_t>(static_cast<float>(value));
        CHECK(soft_errors::nearest_bits(soft_errors::float32, value) == nearest);
        const auto near_one =
            static_cast<float>(base::draw_normal(random)) * std::ldexp(1.0F, static_cast<int>(random() % 300) - 150);
        CHECK(soft_errors::nearest_bits(soft_errors::float32, static_cast<double>(near_one)) ==
              std::bit_cast<std::uint32_t>(near_one));
    }
    CHECK(soft_errors::nearest_bits(soft_errors::float16, 65520.0) ==
          0x7c00);  // half-way to the next number, which overflows: ties go to even
    CHECK(soft_errors::nearest_bits(soft_errors::float16, 65519.9) == 0x7bff);
    CHECK(soft_errors::nearest_bits(soft_errors::float16, std::ldexp(1.0, -25)) == 0);
    CHECK(soft_errors::nearest_bits(soft_errors::float16, std::ldexp(1.5, -25)) == 1);
}

TEST_CASE("every pattern of half precision is the nearest to its own value")
{
    for (const NumberFormat& format : {soft_errors::float16, soft_errors::bfloat16})
        for (std::uint64_t bits = 0; bits < 65536; ++bits)
            if (soft_errors::is_finite(format, bits) &&
                soft_errors::nearest_bits(format, soft_errors::value_of(format, bits)) != bits)
                FAIL("pattern ", bits);
}

TEST_CASE("numbers are shown as they are read")
{
    CHECK(soft_errors::value_text(soft_errors::float32, 0x3dcccccd) == "0.1");
    CHECK(soft_errors::value_text(soft_errors::float32, 0xff800000) == "-inf");
    CHECK(soft_errors::value_text(soft_errors::float32, 0x7fc00000) == "nan");
    const NumberFormat byte{.kind = NumberFormat::Kind::whole, .bytes = 1};
    CHECK(soft_errors::value_text(byte, 0xff) == "-1");
    CHECK(soft_errors::hexadecimal(soft_errors::float16, 0x3c0) == "0x03c0");
    CHECK(soft_errors::bits_text(soft_errors::float32, 0x80000001) == "0 31");
}

TEST_CASE("a format has one name")
{
    for (const char* name : {"float16", "bfloat16", "float32", "float64-be", "int8", "uint64", "int16-be"}) {
        REQUIRE(soft_errors::format_named(name));
        CHECK(soft_errors::format_name(*soft_errors::format_named(name)) == name);
    }
    CHECK(!soft_errors::format_named("float8"));
    CHECK(!soft_errors::format_named("int8-be"));
}

TEST_CASE("bytes stand in the file's order")
{
    const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    NumberFormat format = soft_errors::float32;
    CHECK(soft_errors::load_bits(format, bytes.data()) == 0x04030201);
    format.big_endian = true;
    CHECK(soft_errors::load_bits(format, bytes.data()) == 0x01020304);
    std::vector<std::byte> copy(4);
    soft_errors::store_bits(format, 0x01020304, copy.data());
    CHECK(copy == bytes);
}
