// SPDX-License-Identifier: Apache-2.0
// The time table: every nanosecond of each rank is in one row.
#include "analysis/sections/time/time_table.hpp"

#include "analysis/estimate/simulation.hpp"
#include "base/random.hpp"
#include "testing/synthetic_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

using analysis::LeftOut;
using analysis::TimeRow;

namespace {

constexpr std::int64_t ms = 1'000'000;

void relabel(std::vector<analysis::Slot>& slots, const std::string& factor, const analysis::Assigned& as)
{
    for (analysis::Slot& slot : slots)
        for (analysis::Assigned& on : slot.on)
            if (on.factor == factor) on = as;
}

// A run of two ranks on two clocks, with accidents, with a delay and its sham that some steps miss or follow too late,
// with steps that were not recorded, and with time between steps of rank 1.
analysis::DesignedRun random_run(std::uint64_t seed)
{
    base::Random random{seed};
    analysis::SimulatedRun simulated = analysis::simulate(
        {.effects_percent = {0.0, 20.0, 5.0, 2.0}, .step_ms = 50.0, .outlier_rate = 0.02, .run_s = 90.0}, random);
    relabel(simulated.slots, "f2", {"late", "", "control.delay", base::Role::delay});
    relabel(simulated.slots, "f3", {"sham", "", "control.sham", base::Role::sham});
    const analysis::RankSteps& all = simulated.steps.ranks.front();
    const auto offset_ns = static_cast<std::int64_t>(base::draw_below(random, 5'000'000'000));
    const auto late_ns = static_cast<std::int64_t>(base::draw_below(random, 3'000'000'000));

    analysis::DesignedRun run;
    run.steps.phases = {"other", "control_settle"};
    run.steps.ranks.resize(2);
    run.steps.ranks[1].rank = 1;
    for (std::size_t i = 0; i < all.begin_ns.size(); ++i) {
        if (all.begin_ns[i] < late_ns && seed % 2 == 0) continue;  // the training begins after the noise
        if (base::draw_unit(random) < 0.01) continue;              // not recorded
        const std::int64_t end_ns = all.end_ns[i];
        run.steps.numbers.push_back(simulated.steps.numbers[i]);
        run.steps.ranks[0].begin_ns.push_back(all.begin_ns[i]);
        run.steps.ranks[0].end_ns.push_back(end_ns);
        const auto between_ns = static_cast<std::int64_t>(base::draw_below(random, 3)) * ms / 3;
        run.steps.ranks[1].begin_ns.push_back(all.begin_ns[i] + offset_ns + between_ns / 2);
        run.steps.ranks[1].end_ns.push_back(end_ns + offset_ns - between_ns / 2);
        bool control = false;
        for (const analysis::Slot& slot : simulated.slots)
            if (slot.begin_ns <= all.begin_ns[i] && all.begin_ns[i] < slot.end_ns && !slot.on.empty())
                control = base::acts_on_whole_steps(slot.on[0].role);
        const double settled = base::draw_unit(random) < (control ? 0.9 : 0.01) ? 1.0 : 0.0;
        for (analysis::RankSteps& rank : run.steps.ranks) {
            const double step_ms = static_cast<double>(rank.end_ns.back() - rank.begin_ns.back()) / 1e6;
            rank.phase_ms.append_row(std::vector{step_ms - settled, settled});
        }
    }
    if (seed % 3 == 0)  // the training continues after the noise
        simulated.slots.resize(simulated.slots.size() - 5);
    if (seed % 3 == 1)  // or the noise begins later
        simulated.slots.erase(simulated.slots.begin(), simulated.slots.begin() + 6);
    run.plan = analysis::experiment(analysis::Design::rotation, simulated.slots);
    run.slots.push_back(simulated.slots);
    for (analysis::Slot& slot : simulated.slots) {
        slot.begin_ns += offset_ns;
        slot.end_ns += offset_ns;
    }
    run.slots.push_back(std::move(simulated.slots));
    return run;
}

std::int64_t whole_ns(const analysis::RankSteps& rank, const std::vector<analysis::Slot>& slots)
{
    std::int64_t end_ns = 0;
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        if (rank.begin_ns[i] < slots.back().end_ns) end_ns = rank.end_ns[i];
    return end_ns - std::max(slots.front().begin_ns, rank.begin_ns.front());
}

}  // namespace

TEST_CASE("the table of time adds up to the run of each rank to the nanosecond")
{
    std::map<std::string, std::int64_t> steps_of;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        CAPTURE(seed);
        const analysis::DesignedRun run = random_run(seed);
        const analysis::Analysis result =
            analysis::analyse(run, {.exposure = {.warm_up_steps = 10 + 20 * static_cast<std::int64_t>(seed % 3),
                                                 .guard = base::Nanoseconds{seed % 4 == 0 ? 0 : 100 * ms}},
                                    .draws = {.count = 0},
                                    .by_rank = false});
        const std::vector<TimeRow> rows = analysis::time_table(run, result);
        for (std::size_t r = 0; r < 2; ++r) {
            CAPTURE(r);
            std::int64_t sum_ns = 0;
            std::int64_t steps = 0;
            for (const TimeRow& row : rows) {
                CHECK(row.ns >= 0);
                if (row.rank != static_cast<int>(r)) continue;
                sum_ns += row.ns;
                steps += row.steps;
                steps_of[row.reason] += row.steps;
            }
            CHECK(sum_ns == whole_ns(run.steps.ranks[r], run.slots[r]));
            std::int64_t there = 0;
            for (std::size_t i = 0; i < run.steps.numbers.size(); ++i)
                there += run.steps.ranks[r].begin_ns[i] < run.slots[r].back().end_ns &&
                                 run.steps.ranks[r].end_ns[i] > run.slots[r].front().begin_ns
                             ? 1
                             : 0;
            CHECK(steps == there);
        }
        for (const LeftOut reason :
             {LeftOut::outlier, LeftOut::guard, LeftOut::control_border, LeftOut::block_incomplete}) {
            std::int64_t steps = 0;
            for (const TimeRow& row : rows)
                if (row.rank == 0 && row.reason == text(reason)) steps += row.steps;
            const auto counted = result.counts.find(reason);
            CAPTURE(text(reason));
            CHECK(steps == (counted == result.counts.end() ? 0 : static_cast<std::int64_t>(counted->second)));
        }
    }
    for (const char* reason : {"used", "warm-up", "not covered by noise", "guard", "at a border of a control's slot",
                               "outlier", "block incomplete"})
        CHECK_MESSAGE(steps_of[reason] > 0, reason);
}

TEST_CASE("of a step that is set aside the ordinary part is used and the rest is an outlier")
{
    // Steps of 20 ms; one quiet step and one under net take 100 ms.
    int hits = 0;
    const std::vector<analysis::Slot> slots =
        analysis::testing::drawn_slots({{}, {analysis::testing::noise_called("net")}}, 10, 1000.0, 3);
    std::vector<bool> hit{false, false};
    const analysis::DesignedRun run =
        analysis::testing::laid(slots, [&](std::int64_t number, const analysis::Slot& slot) {
            const std::size_t noisy = slot.on.empty() ? 0 : 1;
            const bool now = slot.block == 4 && number % 10 == 5 && !hit[noisy];
            if (now) {
                hit[noisy] = true;
                ++hits;
            }
            return now ? 100.0 : 20.0 + 0.01 * static_cast<double>(number % 3);
        });
    REQUIRE(hits == 2);
    const analysis::Analysis result =
        analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}, .by_rank = false});
    const std::vector<TimeRow> rows = analysis::time_table(run, result);
    const auto row_of = [&](const std::string& treatment, const std::string& reason) {
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const TimeRow& row) {
            return row.treatment == treatment && row.reason == reason;
        });
        REQUIRE(found != rows.end());
        return *found;
    };
    for (const char* treatment : {"quiet", "net"}) {
        CHECK(row_of(treatment, "outlier").steps == 1);
        CHECK(static_cast<double>(row_of(treatment, "outlier").ns) / 1e6 == doctest::Approx(80.0).epsilon(0.001));
        CHECK(static_cast<double>(row_of(treatment, "used").ns) / 1e9 == doctest::Approx(10.0).epsilon(0.02));
    }
}
