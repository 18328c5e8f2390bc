// SPDX-License-Identifier: Apache-2.0
// How often intervals of blocks and runs with random effects include the truth. These tests take seconds; the nightly
// studies simulate whole steps.
#include "analysis/estimate/random_effects.hpp"
#include "base/random.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

using analysis::Looks;
using analysis::Mean;

namespace {

constexpr int repetitions = 2000;
constexpr int fixed_blocks = 60;

double drawn(base::Random& random, double mean, double deviation)
{
    const double radius = std::sqrt(-2.0 * std::log(1.0 - base::draw_unit(random)));
    return mean + deviation * radius * std::cos(2.0 * std::numbers::pi * base::draw_unit(random));
}

struct Ended {
    double safe = 0.0;
    double unsafe = 0.0;
    double length = 0.0;  // share of the fixed length
};

// Simulates block effects with a standard deviation of one budget, and looks after every block from the tenth on.
Ended looked_at(double effect_in_budgets)
{
    base::Random random{5};
    Ended ended;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        std::vector<double> blocks;
        bool decided = false;
        while (!decided && blocks.size() < fixed_blocks) {
            blocks.push_back(drawn(random, effect_in_budgets, 1.0));
            if (blocks.size() < 10) continue;
            Mean mean = base::mean_of(blocks);
            mean.looks = blocks.size() < fixed_blocks ? Looks::on_the_way : Looks::at_the_end;
            const analysis::Interval interval = mean.interval(0.95);
            ended.safe += interval.high < 1.0 ? 1.0 / repetitions : 0.0;
            ended.unsafe += interval.low > 1.0 ? 1.0 / repetitions : 0.0;
            decided = !interval.contains(1.0);
        }
        ended.length += static_cast<double>(blocks.size()) / fixed_blocks / repetitions;
    }
    return ended;
}

}  // namespace

TEST_CASE("a run that ends when decided seldom decides wrongly where the effect is the budget")
{
    const Ended ended = looked_at(1.0);
    CHECK(ended.safe <= 0.05);
    CHECK(ended.unsafe <= 0.05);
    CHECK(ended.safe + ended.unsafe >= 0.01);
}

TEST_CASE("a run that ends when decided takes little of the fixed length far from the budget")
{
    CHECK(looked_at(0.5).length <= 0.6);
    CHECK(looked_at(2.0).length <= 0.6);
    CHECK(looked_at(0.5).safe >= 0.8);
}

TEST_CASE("the interval over three runs covers what such runs have in the mean, alike or not")
{
    for (const double between : {0.0, 0.3, 3.0}) {
        base::Random random{7};
        int covered = 0;
        for (int repetition = 0; repetition < repetitions; ++repetition) {
            std::vector<Mean> runs;
            for (int run = 0; run < 3; ++run) {
                const double truth = drawn(random, 10.0, between);
                std::vector<double> blocks;
                for (int block = 0; block < 15; ++block) blocks.push_back(drawn(random, truth, 2.0));
                runs.push_back(base::mean_of(blocks));
            }
            covered += analysis::random_effects(runs).mean.interval(0.95).contains(10.0) ? 1 : 0;
        }
        CAPTURE(between);
        CHECK(covered >= 0.92 * repetitions);
        CHECK(covered <= 0.98 * repetitions);
    }
}
