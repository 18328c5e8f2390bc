// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/half.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using ddl::Half;
using ddl::to_float;
using ddl::to_half;

TEST_CASE("every half is itself again after it was a float")
{
    for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
        const Half half{static_cast<std::uint16_t>(bits)};
        const float value = to_float(half);
        if (std::isnan(value))
            CHECK(std::isnan(to_float(to_half(value))));
        else if (to_half(value) != half)
            FAIL(bits);
    }
}

TEST_CASE("a float becomes the nearest half and of two the even one")
{
    for (std::uint32_t bits = 0; bits < 0x7bffU; ++bits) {
        const Half low{static_cast<std::uint16_t>(bits)};
        const Half high{static_cast<std::uint16_t>(bits + 1)};
        const float middle = (to_float(low) + to_float(high)) / 2.0F;
        const bool right = to_half(middle) == (bits % 2 == 0 ? low : high) &&
                           to_half(std::nextafter(middle, 0.0F)) == low &&
                           to_half(std::nextafter(middle, 1e9F)) == high;
        if (!right) FAIL(bits);
    }
}

TEST_CASE("known numbers in half precision")
{
    CHECK(to_half(1.0F).bits == 0x3c00);
    CHECK(to_half(-2.0F).bits == 0xc000);
    CHECK(to_half(65504.0F).bits == 0x7bff);
    CHECK(to_half(65519.99F).bits == 0x7bff);
    CHECK(to_half(65520.0F).bits == 0x7c00);
    CHECK(to_half(-1e30F).bits == 0xfc00);
    CHECK(to_half(0x1p-24F).bits == 0x0001);
    CHECK(to_half(0x1p-25F).bits == 0x0000);
    CHECK(to_half(-0.0F).bits == 0x8000);
    CHECK(to_float(Half{0x3555}) == 0.333251953125F);
    CHECK(std::isinf(to_float(Half{0x7c00})));
    CHECK(std::isnan(to_float(to_half(std::numeric_limits<float>::quiet_NaN()))));
}
