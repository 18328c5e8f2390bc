// SPDX-License-Identifier: Apache-2.0
// Medians with intervals, and costs from measurements in turns.
#include "testing/paired.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_CASE("the interval of a median of 15 runs from the fourth smallest to the fourth largest")
{
    std::vector<double> samples;
    for (int value = 15; value >= 1; --value) samples.push_back(value);
    const testing::Median median = testing::median(samples);  // published tables: 96.5 % for ranks 4 and 12 of 15
    CHECK(median.value == 8.0);
    CHECK(median.low == 4.0);
    CHECK(median.high == 12.0);
    CHECK(median.samples == 15);
    CHECK(median.text() == "8 [4, 12] of 15");
}

TEST_CASE("the interval of a median of 2000 runs is that of the binomial distribution")
{
    std::vector<double> samples;
    for (int value = 1; value <= 2000; ++value) samples.push_back(value);
    const testing::Median median = testing::median(samples);
    CHECK(median.low == 956.0);  // P(Binomial(2000, 1/2) <= 955) = 0.0233, <= 956: 0.0259
    CHECK(median.high == 1045.0);
}

TEST_CASE("an even number of samples has its median between the middle two")
{
    CHECK(testing::median({1, 2, 3, 4, 5, 6}).value == 3.5);
    CHECK(testing::median({6, 5, 4, 3, 2, 1}).low == 1.0);
}

TEST_CASE("five samples give no 95 percent interval and are refused")
{
    CHECK_THROWS_AS(testing::median({1, 2, 3, 4, 5}), base::Error);
    CHECK_THROWS_AS(testing::median({}), base::Error);
}

TEST_CASE("pairs take turns in who goes first and give the ratio of each pair")
{
    std::string order;
    double drift = 1.0;  // slows the machine down steadily: ratios of neighbours stay near the truth
    const auto cost = [&](char name, double base_cost) {
        order += name;
        return base_cost * drift++;
    };
    const testing::Paired paired = testing::measure_in_pairs(
        6, [&] { return cost('a', 2.0); }, [&] { return cost('b', 1.0); });
    CHECK(order == "ababbaabbaabba");
    CHECK(paired.ratio.samples == 6);
    CHECK(paired.ratio.value == doctest::Approx(2.0).epsilon(0.15));
    CHECK(paired.first.value > paired.second.value);
}
