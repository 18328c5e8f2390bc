// SPDX-License-Identifier: Apache-2.0
// The true effect of control.pause on the steps, against values on paper.
#include "analysis/conclude/controls.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

TEST_CASE("the truth of pauses that steps at a slot's border never meet is that of all of its steps")
{
    // Slots of one second, stopped for 40 ms in their middle, with steps of 100 ms of work: 960 ms of work take 1,000
    // ms.
    analysis::DesignedRun run;
    run.steps.phases = {"other"};
    analysis::RankSteps& rank = run.steps.ranks.emplace_back();
    std::vector<analysis::TimeSpan>& stopped = run.stopped.emplace_back();
    constexpr std::int64_t ms = 1'000'000;
    std::vector<analysis::Slot> slots;
    for (std::int64_t second = 0; second < 90; ++second) {
        const std::int64_t kind = (second + second / 3) % 3;
        std::vector<analysis::Assigned> on;
        if (kind == 1) on.push_back({"placebo", "", "placebo", base::Role::placebo});
        if (kind == 2) on.push_back({"pause", "", "control.pause", base::Role::pause});
        if (kind == 2) stopped.push_back({second * 1000 * ms + 480 * ms, second * 1000 * ms + 520 * ms});
        slots.push_back({static_cast<int>(second / 3), second * 1000 * ms, (second + 1) * 1000 * ms, on});
    }
    for (std::int64_t time = 0; time < 89'500 * ms;) {
        const auto step = static_cast<std::int64_t>(rank.begin_ns.size());
        std::int64_t end = time + 100 * ms + (step * 37 % 11 - 5) * ms / 5;
        for (const analysis::TimeSpan& stop : stopped)
            if (stop.begin_ns >= time && stop.begin_ns < end) end += 40 * ms;
        run.steps.numbers.push_back(step);
        rank.begin_ns.push_back(time);
        rank.end_ns.push_back(end);
        rank.phase_ms.append_row(std::vector{static_cast<double>(end - time) / 1e6});
        time = end;
    }
    run.plan = analysis::experiment(analysis::Design::rotation, slots);
    run.slots = {slots};
    const analysis::Analysis analysis =
        analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}});
    const std::optional<double> truth =
        analysis::true_pause_percent(run, analysis, {"pause", "", "control.pause", base::Role::pause});
    REQUIRE(truth);
    // By hand: a slot of one second with a stop of 40 ms holds 9.6 steps, of which 8.6 lie wholly in it on average. A
    // straddling step has a weight of a quarter times its squared share, 1/3 on average at each border.
    CHECK(*truth == doctest::Approx(100.0 * 40.0 / (100.0 * (8.6 + 2.0 * 0.25 / 3.0))).epsilon(0.01));
    const analysis::Effect* measured = analysis::find(analysis.effects, "pause", "", analysis::Kind::alone, "step");
    CHECK(measured->percent.value == doctest::Approx(*truth).epsilon(0.01));
}
