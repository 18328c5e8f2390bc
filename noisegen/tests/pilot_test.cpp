// SPDX-License-Identifier: Apache-2.0
// slot=auto tests whether noise has effects beyond its slot: which noise is tested, and the conclusions from the steps.
#include "noisegen/schedule/pilot.hpp"

#include "noisegen/schedule/parser.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace std::chrono_literals;
using noisegen::SeenSteps;
using noisegen::Slot;

namespace {

noisegen::Schedule schedule()
{
    return noisegen::parse_schedule(
        "rotation(mem=memory.stream[rate=1GiB/s|2GiB/s], cpu.spin, placebo, control.delay, control.sham; slot=auto)");
}

// A training with steps of 20 ms that grow by 1 % in a second, and by `left` in the slot after each level.
std::vector<SeenSteps> train(const std::vector<Slot>& table, const std::map<std::size_t, double>& left)
{
    std::vector<SeenSteps> steps;
    std::int64_t at_ns = 0;
    std::int64_t number = 0;
    while (at_ns < table.back().end.count()) {
        const auto slot = static_cast<std::size_t>(at_ns / table.front().end.count());
        double longer = 1.0 + 0.01 * static_cast<double>(at_ns) / 1e9;
        if (slot > 0 && !table[slot - 1].treatment.empty()) {
            const auto found = left.find(table[slot - 1].treatment.front());
            if (found != left.end()) longer *= 1.0 + found->second;
        }
        longer *= 1.0 + 0.005 * static_cast<double>(number++ % 3 - 1);
        const auto length_ns = static_cast<std::int64_t>(20e6 * longer);
        steps.push_back({at_ns, length_ns, 1});
        at_ns += length_ns;
    }
    return steps;
}

}  // namespace

TEST_CASE("a pilot has each noise eight times with two quiet slots behind it and no control")
{
    const noisegen::Schedule tried = schedule();
    const std::vector<Slot> table = noisegen::pilot_table(tried, 7, 200ms);
    REQUIRE(table.size() == 1 + 3 * 8 * 3);
    CHECK(table.back().end == 14600ms);
    CHECK(table.front().treatment.empty());
    std::map<std::string, int> times;
    for (std::size_t i = 1; i < table.size(); i += 3) {
        CHECK(table[i].begin == table[i - 1].end);
        ++times[noisegen::text(tried, table[i].treatment)];
        CHECK(table[i + 1].treatment.empty());
        CHECK(table[i + 2].treatment.empty());
    }
    CHECK(times == std::map<std::string, int>{{"mem[rate=1GiB/s]", 8}, {"mem[rate=2GiB/s]", 8}, {"cpu.spin", 8}});
    const std::vector<Slot> other = noisegen::pilot_table(tried, 8, 200ms);
    CHECK(!std::equal(table.begin(), table.end(), other.begin(),
                      [](const Slot& a, const Slot& b) { return a.treatment == b.treatment; }));
    CHECK(noisegen::pilot_table(noisegen::parse_schedule("rotation(placebo; slot=auto)"), 1, 200ms).empty());
}

TEST_CASE("what a noise leaves in the slot after it is found and drift is not mistaken for it")
{
    const noisegen::Schedule tried = schedule();
    const std::vector<Slot> table = noisegen::pilot_table(tried, 3, 200ms);
    const noisegen::PilotRound round{200ms, noisegen::left_behind(tried, table, train(table, {{1, 0.05}}))};
    REQUIRE(round.left.size() == 3);
    CHECK(round.left[1].noise == "mem[rate=2GiB/s]");
    CHECK(round.left[1].percent == doctest::Approx(5.0).epsilon(0.1));
    CHECK(round.left[1].lasts());
    CHECK(std::abs(round.left[0].percent) < 0.5);
    CHECK(!round.left[0].lasts());
    CHECK(!round.left[2].lasts());
    CHECK(round.lasts());
    const noisegen::PilotRound nothing{200ms, noisegen::left_behind(tried, table, train(table, {}))};
    CHECK(!nothing.lasts());
    // Faster steps after a noise do not lead to longer slots.
    const noisegen::PilotRound faster{200ms, noisegen::left_behind(tried, table, train(table, {{0, -0.05}}))};
    CHECK(!faster.lasts());
}

TEST_CASE("a training that stands still tells nothing")
{
    const noisegen::Schedule tried = schedule();
    const std::vector<Slot> table = noisegen::pilot_table(tried, 3, 200ms);
    const noisegen::PilotRound round{200ms, noisegen::left_behind(tried, table, {})};
    CHECK(!round.lasts());
}

TEST_CASE("a pilot takes a fifth of the run at most and leaves it ten blocks")
{
    // 73 slots of 200 ms are 14.6 s.
    CHECK(noisegen::has_time_for_pilot(schedule(), 200ms, 73s));
    CHECK(!noisegen::has_time_for_pilot(schedule(), 200ms, 72900ms));
    CHECK(!noisegen::has_time_for_pilot(schedule(), 200ms, 73s, 1s));
    // Six treatments and three quiet slots make blocks of 9 slots of 400 ms; ten of them are needed.
    CHECK(noisegen::may_double(schedule(), 200ms, 36s));
    CHECK(!noisegen::may_double(schedule(), 200ms, 35900ms));
}
