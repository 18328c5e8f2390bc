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
