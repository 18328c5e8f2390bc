// SPDX-License-Identifier: Apache-2.0
// Times at which CPU stressors run: interrupts on a grid of the real-time clock, spins until a deadline.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/registry.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::unique_ptr<noisegen::Stressor> make(const std::string& stressor, const std::map<std::string, std::string>& options,
                                         const noisegen::Place& place = {})
{
    const auto& card = noisegen::stressors().find(stressor);
    return card.make(noisegen::stressors().settings(card, options), place);
}

noisegen::Turn turn_of(std::int64_t length_ns)
{
    return {.deadline_ns = base::now_ns() + length_ns, .bytes_per_s = 0.0, .operations_per_s = 0.0};
}

noisegen::Place place_of(int rank, std::size_t index)
{
    noisegen::Place place;
    place.index = index;
    place.job.rank = rank;
    return place;
}

// Offset of the stressor's next interrupt within a period of the real-time clock.
std::int64_t phase(noisegen::Stressor& stressor, std::int64_t period_ns)
{
    stressor.begin(turn_of(100 * period_ns));
    const noisegen::Work work = stressor.step();
    REQUIRE(work.operations == 0);
    REQUIRE(work.rest_until_ns > base::now_ns());
    return (work.rest_until_ns + base::realtime_offset_ns()) % period_ns;
}

// Distance between two offsets in a period, the shorter way round.
std::int64_t distance(std::int64_t a, std::int64_t b, std::int64_t period_ns)
{
    const std::int64_t apart = std::abs(a - b);
    return std::min(apart, period_ns - apart);
}

// Tolerance: the two readings of the clocks' offset differ, and a clock may be steered meanwhile.
constexpr std::int64_t clocks_differ_ns = 5'000'000;

}  // namespace

TEST_CASE("interrupts of all CPUs and nodes begin at multiples of the period")
{
    const std::map<std::string, std::string> each_minute{{"frequency", "0.0166666666666667/s"}};
    constexpr std::int64_t minute_ns = 60 * second_ns;
    for (const std::size_t cpu : {std::size_t{0}, std::size_t{3}}) {
        const auto stressor = make("cpu.interrupt", each_minute, place_of(2, cpu));
        CHECK(distance(phase(*stressor, minute_ns), 0, minute_ns) < clocks_differ_ns);
    }
}

TEST_CASE("interrupts that are not together have a phase for each CPU and rank, the same every time")
{
    const std::map<std::string, std::string> apart{{"frequency", "0.001/s"}, {"together", "no"}};
    constexpr std::int64_t period_ns = 1000 * second_ns;
    std::map<std::pair<int, std::size_t>, std::int64_t> phases;
    for (const int rank : {0, 1})
        for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
            const auto stressor = make("cpu.interrupt", apart, place_of(rank, index));
            phases[{rank, index}] = phase(*stressor, period_ns);
            CHECK(distance(phase(*stressor, period_ns), phases[{rank, index}], period_ns) < clocks_differ_ns);
        }
    for (const auto& [place, one] : phases)
        for (const auto& [other_place, other] : phases)
            if (place != other_place) CHECK(distance(one, other, period_ns) > clocks_differ_ns);
}

TEST_CASE("an interrupt takes the CPU for its length in slices and is one operation")
{
    const auto stressor = make("cpu.interrupt", {{"frequency", "100/s"}, {"burst", "3ms"}});
    stressor->begin(turn_of(60 * second_ns));
    const noisegen::Work wait = stressor->step();
    REQUIRE(wait.operations == 0);
    base::sleep_until_ns(wait.rest_until_ns);
    const std::int64_t begin = base::now_ns();
    REQUIRE(begin >= wait.rest_until_ns);
    noisegen::Work work;
    int slices = 0;
    while (work.operations == 0) {
        work = stressor->step();
        ++slices;
    }
    CHECK(slices > 1);
    CHECK(work.operations == 1);
    CHECK(base::now_ns() - begin >= 3'000'000);
    // The next interrupt is a whole number of periods later.
    CHECK((work.rest_until_ns - wait.rest_until_ns) % 10'000'000 == 0);
    CHECK(work.rest_until_ns > wait.rest_until_ns);
    stressor->end();
    CHECK(stressor->note().starts_with("interrupts every 10ms, at its multiples on the real-time clock"));
}

TEST_CASE("an interrupt ends with its turn")
{
    const auto stressor = make("cpu.interrupt", {{"frequency", "1/s"}, {"burst", "999ms"}});
    // The turn ends one millisecond after the interrupt's start, which would last nearly a second more.
    stressor->begin(turn_of(60 * second_ns));
    const std::int64_t start = stressor->step().rest_until_ns;
    stressor->begin({.deadline_ns = start + 1'000'000, .bytes_per_s = 0.0, .operations_per_s = 0.0});
    base::sleep_until_ns(start);
    std::uint64_t interrupts = 0;
    int steps = 0;
    for (; base::now_ns() < start + 1'000'000 || steps == 0; ++steps) interrupts += stressor->step().operations;
    CHECK(interrupts == 0);
    stressor->end();
}

TEST_CASE("interrupts that cannot be are refused")
{
    const std::map<std::string, std::map<std::string, std::string>> refused{
        {"cpu.interrupt[frequency] must be 0.001/s to 20000/s, such as 100/s, not 0/s", {{"frequency", "0/s"}}},
        {"cpu.interrupt[frequency] must be 0.001/s to 20000/s, such as 100/s, not 1000000/s",
         {{"frequency", "1000000/s"}}},
        {"cpu.interrupt[frequency] must be 0.001/s to 20000/s, such as 100/s, not 4GiB/s", {{"frequency", "4GiB/s"}}},
        {"cpu.interrupt[burst] must be more than 0 and less than the 10ms from one interrupt to the next, not 10ms",
         {{"burst", "10ms"}}},
        {"cpu.interrupt[burst] must be more than 0 and less than the 10ms from one interrupt to the next, not 0",
         {{"burst", "0"}}},
        {"cpu.interrupt[together]: 'perhaps' is neither yes nor no", {{"together", "perhaps"}}},
    };
    for (const auto& [reported, options] : refused)
        CHECK_THROWS_WITH_AS(make("cpu.interrupt", options), reported.c_str(), base::UsageError);
}

TEST_CASE("a spin does its unit of CPU time and no more than its turn allows")
{
    const auto stressor = make("cpu.spin", {{"unit", "500us"}});
    stressor->begin(turn_of(60 * second_ns));
    const std::int64_t begin = base::thread_cpu_ns();
    CHECK(stressor->step().operations == 1);
    CHECK(base::thread_cpu_ns() - begin >= 500'000);
    stressor->end();
    stressor->begin(turn_of(-1));  // the turn has already ended
    CHECK(stressor->step().operations == 0);
    stressor->end();
}

TEST_CASE("what a turn cuts off of a spin counts in the next")
{
    const auto stressor = make("cpu.spin", {});
    std::uint64_t operations = 0;
    const std::int64_t begin = base::thread_cpu_ns();
    for (int turns = 0; operations < 3; ++turns) {
        REQUIRE(turns < 100'000);
        stressor->begin(turn_of(100'000));
        operations += stressor->step().operations;
        stressor->end();
    }
    CHECK(base::thread_cpu_ns() - begin >= 3'000'000);
}

TEST_CASE("a unit of spinning that cannot be is refused")
{
    for (const std::string wrong : {"1us", "2ms"})
        CHECK_THROWS_WITH_AS(make("cpu.spin", {{"unit", wrong}}),
                             ("cpu.spin[unit] must be 50us to 1ms, not " + wrong).c_str(), base::UsageError);
}
