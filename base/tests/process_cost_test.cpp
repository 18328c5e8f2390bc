// SPDX-License-Identifier: Apache-2.0
// CPU time and memory of the processes that benchmarks start.
#include "testing/process_cost.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("the peak memory of work is that of its own process, and of the programs that it waits for")
{
    const auto take = [] { CHECK(std::string(200'000'000, 'x').back() == 'x'); };
    const double little_mb = testing::peak_mb([] {});
    CHECK(testing::peak_mb(take) > little_mb + 190.0);
    CHECK(testing::peak_mb([&] { testing::peak_mb(take); }) > little_mb + 190.0);
    CHECK_THROWS_AS(testing::peak_mb([] { base::fail("is odd"); }), base::Error);
}

TEST_CASE("the CPU time of children is theirs alone")
{
    const auto spend = [] {
        double sum = 0.0;
        for (int i = 0; i < 20'000'000; ++i) sum = sum * 0.5 + i;
        CHECK(sum > 0.0);
    };
    CHECK(testing::cost_of_children(spend).cpu_s == 0.0);
    const testing::ProcessCost cost = testing::cost_of_children([&] { testing::peak_mb(spend); });
    CHECK(cost.cpu_s > 0.0);
    CHECK(cost.wall_s > 0.0);
}

TEST_CASE("a program that fails is an error with what it said")
{
    CHECK(testing::cost_of_program({"true"}).wall_s > 0.0);
    CHECK_THROWS_WITH_AS(testing::cost_of_program({"sh", "-c", "echo no such run >&2; exit 3"}),
                         "sh ends with 3: no such run", base::Error);
}
