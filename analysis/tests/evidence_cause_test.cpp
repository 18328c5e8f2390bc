// SPDX-License-Identifier: Apache-2.0
// A cause is named by what kept main threads from running: if its interval excludes zero, if it explains a third of the
// slowdown, and if the placebo does not show it.
#include "analysis/conclude/cause.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using analysis::Family;
using base::Role;

// An effect on the job with 30 degrees of freedom, whose 95 % interval is 2.04 standard errors on both sides.
analysis::Effect effect_by_hand(Family family, Role role, const char* phase, double percent, double standard_error)
{
    analysis::Effect effect;
    effect.family = family;
    effect.factor = role == Role::placebo ? "placebo" : "noise";
    effect.role = role;
    effect.phase = phase;
    effect.percent = {.value = percent, .standard_error = standard_error, .degrees_of_freedom = 30.0};
    effect.p_holm = 0.001;
    return effect;
}

// The cause of a slowdown of 12 %, of a training without phases.
analysis::Cause cause_with(const std::vector<analysis::Effect>& parts)
{
    analysis::DesignedRun run;
    run.steps.phases = {"other"};
    analysis::Analysis analysis;
    analysis.effects = parts;
    return cause_of(run, analysis, effect_by_hand(Family::step, Role::treatment, "step", 12.0, 0.5), 0.95);
}

analysis::Effect cause_part(const char* cause, double percent, double standard_error)
{
    return effect_by_hand(Family::evidence, Role::treatment, cause, percent, standard_error);
}

analysis::Effect placebo_part(const char* cause, double percent, double standard_error)
{
    return effect_by_hand(Family::evidence, Role::placebo, cause, percent, standard_error);
}

}  // namespace

TEST_CASE("what explains a third of a slowdown beyond chance is its cause")
{
    const analysis::Cause cause = cause_with({cause_part("neighbour", 6.0, 1.0), cause_part("softirq", 2.0, 0.1)});
    CHECK(cause.evidence == "neighbour");
    CHECK(cause.sentence.starts_with("Main threads wait for a CPU on which another job runs (+6.0 % of +12.0 %). "));
}

TEST_CASE("what may be zero, or is less than a third of a slowdown, is not its cause")
{
    CHECK(cause_with({cause_part("neighbour", 6.0, 3.5)}).evidence == "");
    CHECK(cause_with({cause_part("neighbour", 3.9, 1.0)}).evidence == "");
    CHECK(cause_with({cause_part("neighbour", 4.1, 1.0)}).evidence == "neighbour");
    CHECK(cause_with({}).sentence == "The archive records no phases.");
}

TEST_CASE("what the placebo shows is no cause of a slowdown, but its chance variation does not count")
{
    CHECK(cause_with({cause_part("neighbour", 6.0, 1.0), placebo_part("neighbour", 0.9, 0.2)}).evidence == "");
    CHECK(cause_with({cause_part("neighbour", 6.0, 1.0), placebo_part("neighbour", 0.4, 0.1)}).evidence == "neighbour");
    CHECK(cause_with({cause_part("neighbour", 6.0, 1.0), placebo_part("neighbour", 3.0, 2.0)}).evidence == "neighbour");
    CHECK(cause_with({cause_part("neighbour", 6.0, 1.0), placebo_part("softirq", 3.0, 0.5)}).evidence == "neighbour");
}

TEST_CASE("of several causes that with the highest lower bound is named")
{
    CHECK(cause_with({cause_part("neighbour", 7.0, 2.5), cause_part("block_io", 5.0, 0.5)}).evidence == "block_io");
}

TEST_CASE("each cause that can be acted on has a sentence of its own")
{
    for (const char* cause : {"neighbour", "own_thread", "kernel_thread", "runqueue_wait", "interrupt", "softirq",
                              "throttled", "steal", "block_io", "major_faults", "reclaim"})
        CHECK(cause_with({cause_part(cause, 6.0, 1.0)}).evidence == cause);
    CHECK(cause_with({cause_part("idle_cpu", 6.0, 1.0)}).evidence == "");
}
