// SPDX-License-Identifier: Apache-2.0
// The cost of checkpoints for the steps between them, from steps and slots with known times.
#include "analysis/sections/checkpoints/checkpoints.hpp"
#include "testing/synthetic_steps.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using analysis::Slot;

namespace {

analysis::Assigned checkpoints(const std::string& mode)
{
    return {"job.checkpoint", "mode=" + mode, "job.checkpoint"};
}

std::vector<Slot> slots_of_both_modes()
{
    return analysis::testing::drawn_slots({{}, {}, {checkpoints("sync")}, {checkpoints("async")}}, 40, 1000.0, 1);
}

// Steps of 20 ms, and in the first whole one of a slot the phase: 100 ms for a synchronous checkpoint, 10 ms for an
// asynchronous one, whose slot's other steps take 22 ms.
analysis::DesignedRun run_of(const std::vector<Slot>& slots, bool marks_phase = true)
{
    std::int64_t slot_begin_ns = -1;
    return analysis::testing::laid(slots, {"backward", marks_phase ? "checkpoint" : "other"},
                                   [&](std::int64_t number, const Slot& slot) {
                                       const bool first = std::exchange(slot_begin_ns, slot.begin_ns) != slot.begin_ns;
                                       const bool is_async = !slot.on.empty() && slot.on.front().level == "mode=async";
                                       const double jitter = 0.02 * static_cast<double>(number * 7 % 11 - 5);
                                       const double phase = !first || slot.on.empty() ? 0.0 : is_async ? 10.0 : 100.0;
                                       return std::vector{(is_async ? 22.0 : 20.0) + jitter, phase};
                                   });
}

std::vector<analysis::CheckpointCost> costs_of(const analysis::DesignedRun& run)
{
    const analysis::Rules rules{.exposure = {.warm_up_steps = 0}, .draws = {.count = 99}, .by_rank = false};
    return analysis::checkpoint_costs(run, analysis::analyse(run, rules));
}

}  // namespace

TEST_CASE("steps between checkpoints are compared with quiet ones, apart from the steps that write")
{
    const std::vector<analysis::CheckpointCost> costs = costs_of(run_of(slots_of_both_modes()));
    REQUIRE(costs.size() == 2);
    CHECK(costs[0].level == "mode=async");
    CHECK(costs[0].checkpoints == 40);
    CHECK(costs[0].checkpoint_ms == doctest::Approx(10.0));
    CHECK(costs[0].percent.value == doctest::Approx(10.0).epsilon(0.02));
    CHECK(costs[0].percent.interval(0.95).half_width() < 0.5);
    CHECK(costs[0].between > 40 * 40);
    CHECK(costs[1].level == "mode=sync");
    CHECK(costs[1].checkpoint_ms == doctest::Approx(100.0));
    CHECK(costs[1].percent.value == doctest::Approx(0.0).scale(1.0).epsilon(0.05));
}

TEST_CASE("the step in which other ranks wait for the one that writes is not between checkpoints")
{
    analysis::DesignedRun run = run_of(slots_of_both_modes());
    // The second rank begins its next step at once, and waits in it: its own phase is empty, the next step is longer.
    analysis::RankSteps other = run.steps.ranks.front();
    other.rank = 1;
    for (std::size_t i = 0; i + 1 < other.begin_ns.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        const double written_ms = other.phase_ms(row, 1);
        if (written_ms == 0.0) continue;
        other.phase_ms(row, 1) = 0.0;
        other.phase_ms(row + 1, 0) += written_ms;
        other.end_ns[i] -= static_cast<std::int64_t>(written_ms * 1e6);
        other.begin_ns[i + 1] = other.end_ns[i];
        ++i;
    }
    run.steps.ranks.push_back(std::move(other));
    run.slots.push_back(run.slots.front());
    const std::vector<analysis::CheckpointCost> costs = costs_of(run);
    REQUIRE(costs.size() == 2);
    CHECK(costs[1].level == "mode=sync");
    CHECK(costs[1].checkpoint_ms == doctest::Approx(100.0));
    CHECK(costs[1].percent.value == doctest::Approx(0.0).scale(1.0).epsilon(0.05));
}

TEST_CASE("of a mode whose checkpoints are not marked all steps are between, and without the phase there are none")
{
    analysis::DesignedRun run = run_of(slots_of_both_modes());
    analysis::LongTable& phases = run.steps.ranks.front().phase_ms;
    for (Eigen::Index i = 0; i < phases.rows(); ++i)
        if (phases(i, 1) == 10.0) {
            phases(i, 0) += 10.0;
            phases(i, 1) = 0.0;
        }
    const std::vector<analysis::CheckpointCost> costs = costs_of(run);
    REQUIRE(costs.size() == 2);
    CHECK(costs[0].checkpoints == 0);
    CHECK(costs[0].percent.value > 10.0);  // the step that copies the state is one of them
    CHECK(costs_of(run_of(slots_of_both_modes(), false)).empty());
}
