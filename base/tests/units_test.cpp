// SPDX-License-Identifier: Apache-2.0
// Quantities with units as text: read and written.
#include "base/units.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

using namespace base;
using namespace std::chrono_literals;

TEST_CASE("times bytes rates and percentages are read with their units")
{
    CHECK(parse<Nanoseconds>("1.5s") == 1500ms);
    CHECK(parse<Nanoseconds>("250 us") == 250us);
    CHECK(parse<Nanoseconds>("2min") == 120s);
    CHECK(parse<Bytes>("64MiB").count == 64 << 20);
    CHECK(parse<Bytes>("3kB").count == 3000);
    CHECK(parse<Rate>("4GiB/s").per_second == doctest::Approx(4294967296.0));
    CHECK(parse<Rate>("2000/s").of == Rate::Of::operations);
    CHECK(parse<Percent>("30%").fraction() == doctest::Approx(0.3));
}

TEST_CASE("zero needs no unit and anything else does")
{
    CHECK(parse<Nanoseconds>("0") == 0s);
    CHECK(parse<Bytes>("0").count == 0);
    CHECK_THROWS_AS(parse<Nanoseconds>("5"), UsageError);
    CHECK_THROWS_AS(parse<Bytes>("64"), UsageError);
    CHECK_THROWS_AS(parse<Percent>("30"), UsageError);
}

TEST_CASE("negative endless and nonsensical quantities are refused")
{
    for (const char* text : {"-1s", "nan s", "inf s", "1e300s", "s", "", "4 GiB", "1.5.5s"})
        CHECK_THROWS_AS(parse<Nanoseconds>(text), UsageError);
    CHECK_THROWS_AS(parse<Rate>("4GiB"), UsageError);
    CHECK_THROWS_AS(parse<int>("99999999999999999999"), UsageError);
    CHECK_THROWS_AS(parse<bool>("perhaps"), UsageError);
}

TEST_CASE("what is formatted reads back as the same quantity")
{
    for (const char* text : {"64MiB", "3kB", "1B", "1.5GiB", "1025B"}) CHECK(format(parse<Bytes>(text)) == text);
    for (const char* text : {"1.5s", "250us", "4ms", "1ns", "120s"}) CHECK(format(parse<Nanoseconds>(text)) == text);
    CHECK(format(parse<Rate>("4GiB/s")) == "4GiB/s");
    CHECK(format(parse<Rate>("2000/s")) == "2000/s");
    CHECK(parse<Nanoseconds>(format(1234567891ns)) == 1234567891ns);
}
