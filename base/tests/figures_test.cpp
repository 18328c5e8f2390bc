// SPDX-License-Identifier: Apache-2.0
// Numbers as text for people.
#include "base/figures.hpp"

#include <doctest/doctest.h>

TEST_CASE("an amount is printed with three digits in decimal or binary units")
{
    CHECK(base::bytes_text(64e6) == "64 MB");
    CHECK(base::bytes_text(67108864.0, base::Prefixes::binary) == "64 MiB");
    CHECK(base::speed_text(6.46e9, base::Prefixes::binary) == "6.02 GiB/s");
    CHECK(base::speed_text(512.0, base::Prefixes::binary) == "512 B/s");
    // 1,010 MiB would have four digits before the point and print as 1.01e+03.
    CHECK(base::bytes_text(1010.0 * 1048576.0, base::Prefixes::binary) == "0.986 GiB");
    CHECK(base::bytes_text(999.0 * 1048576.0, base::Prefixes::binary) == "999 MiB");
    CHECK(base::bytes_text(0.0, base::Prefixes::binary) == "0 B");
}

TEST_CASE("percentages read well")
{
    CHECK(base::percent(3.14159) == "3.14 %");
    CHECK(base::percent(31.4159) == "31.4 %");
    CHECK(base::signed_percent(0.5) == "+0.50 %");
    CHECK(base::signed_percent(-0.5) == "-0.50 %");
    CHECK(base::signed_percent(-0.001) == "0.00 %");
    CHECK(base::range({-0.2, 12.0}) == "-0.2 to 12.0 %");
    CHECK(base::p_value(0.00001) == "< 0.001");
}

TEST_CASE("lengths and counts read well")
{
    CHECK(base::length_needed(2.5) == "150 s");
    CHECK(base::length_needed(13.2) == "14 min");
    CHECK(base::length_needed(150.0) == "3 h");
    CHECK(base::length_needed(1440.0) == "more than a day");
    CHECK(base::length_measured(304.4 / 60.0) == "5 min");
    CHECK(base::length_measured(100.4 / 60.0) == "100 s");
    CHECK(base::counted(1, "block") == "1 block");
    CHECK(base::counted(0, "block") == "0 blocks");
}
