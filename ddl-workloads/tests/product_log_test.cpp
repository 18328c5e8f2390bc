// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/product_log.hpp"

#include <doctest/doctest.h>

TEST_CASE("a late rank lags by the time from enough symbols until the last one comes or is given up")
{
    ddl::Matrix sum_of_two{3, 2};  // two parts, and their sum
    for (const int row : {0, 2}) sum_of_two(row, 0) = 1.0;
    for (const int row : {1, 2}) sum_of_two(row, 1) = 1.0;
    const ddl::SymbolDecoder decoder{sum_of_two};
    const std::vector<std::int64_t> ended_ns{10, 40, 30};
    const auto lag = [&](int spare, const std::vector<bool>& came) {
        return ddl::lag_ns(decoder, spare, {.ended_ns = ended_ns, .came = came});
    };
    CHECK(lag(0, {true, true, true}) == 40 - 30);
    CHECK(lag(1, {true, true, true}) == 0);
    CHECK(lag(0, {true, false, true}) == 40 - 30);  // given up at 40
    CHECK(lag(0, {true, true, false}) == 0);
    CHECK(lag(0, {true, false, false}) == 0);  // never enough
}
