// SPDX-License-Identifier: Apache-2.0
// Tests of steps by their numbers, and of the exchanges of buckets in each step.
#include "analysis/input/step_work/recorded_steps.hpp"

#include "analysis/input/training_reader.hpp"
#include "base/random.hpp"
#include "base/system/clock.hpp"
#include "testing/testing.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <doctest/doctest.h>

#include <map>

namespace {

base::LongColumn<analysis::NumberedRow> numbered(const std::vector<std::int64_t>& numbers)
{
    base::LongColumn<analysis::NumberedRow> rows;
    for (const std::int64_t number : numbers) rows.push_back({number, rows.size()});
    return analysis::in_order_of_numbers(std::move(rows));
}

}  // namespace

TEST_CASE("common steps are those of every rank, in whatever order each recorded them")
{
    const analysis::CommonSteps common =
        analysis::common_steps({numbered({3, 1, 2, 7, 9}), numbered({1, 3, 9}), numbered({9, 8, 3, 3, 1, 2})});
    CHECK(common.numbers == base::LongColumn<std::int64_t>{1, 3, 9});
    CHECK(common.rows[0] == base::LongColumn<std::size_t>{1, 0, 4});
    CHECK(common.rows[1] == base::LongColumn<std::size_t>{0, 1, 2});
    CHECK(common.rows[2] == base::LongColumn<std::size_t>{4, 2, 0});  // if two rows have one number, the first counts
}

TEST_CASE("the place of a step is found in whatever order places are asked for")
{
    base::LongColumn<std::int64_t> numbers;
    std::map<std::int64_t, std::size_t> known;
    for (std::int64_t number = 5; number < 20'000; number += number % 7 == 0 ? 3 : 1) {
        known[number] = numbers.size();
        numbers.push_back(number);
    }
    analysis::PlaceOfStep place_of{numbers};
    base::Random random{1};
    std::int64_t near = 0;
    for (int i = 0; i < 5'000; ++i) {
        near = i % 10 == 0 ? static_cast<std::int64_t>(20'100 * base::draw_unit(random)) : near + i % 5 - 2;
        const auto found = known.find(near);
        CHECK(place_of(near) == (found == known.end() ? numbers.size() : found->second));
    }
}

TEST_CASE("exchanges of a step are summed by bucket, whichever thread recorded them")
{
    analysis::ExchangesOfSteps exchanges{{{.step = 1, .ns = 10, .end_ns = 100, .bucket = 1},
                                          {.step = 1, .ns = 20, .end_ns = 130, .bucket = 0},
                                          {.step = 4, .ns = 5, .end_ns = 400, .bucket = 2},
                                          {.step = 1, .ns = 7, .end_ns = 120, .bucket = 1},
                                          {.step = 1, .ns = 9, .end_ns = 150, .bucket = {}}}};
    exchanges.go_to(0);
    CHECK_FALSE(exchanges.last_end_ns());
    exchanges.go_to(1);
    CHECK(exchanges.last_end_ns() == 150);
    CHECK(exchanges.buckets() == std::vector<analysis::ExchangesOfSteps::OfBucket>{{0, 20}, {1, 17}});
    exchanges.go_to(3);
    CHECK(exchanges.buckets().empty());
    CHECK(exchanges.find(1) == nullptr);
    exchanges.go_to(4);
    CHECK(exchanges.find(2)->second == 5);
}

TEST_CASE("a step that the program did not finish is none")
{
    const testing::Scratch scratch;
    {
        otf2::Recorder recorder{scratch / "trace"};
        training::PhaseClock clock{recorder, recorder.location("main"), nullptr};
        std::int64_t at_ns = base::now_ns();
        for (const std::uint64_t step : {0U, 1U, 2U}) {
            clock.begin_step(step, at_ns);
            clock.enter(training::Phase::forward, at_ns + 10);
            at_ns += 1000;
            if (step < 2)
                clock.end_step(at_ns);
            else
                clock.drop_step(at_ns);
        }
        recorder.finish();
    }
    const analysis::Training training = analysis::read_training(scratch / "trace/traces.otf2");
    CHECK(training.steps.numbers == base::LongColumn<std::int64_t>{0, 1});
}
