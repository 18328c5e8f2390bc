// SPDX-License-Identifier: Apache-2.0
// Tests of trust in a run: controls, broken promises, causes.
#include "analysis/conclude/advice.hpp"
#include "analysis/conclude/verdict.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using analysis::Mean;

namespace {

// A run of one rank with slots of ten steps; steps have these lengths in ms.
struct Lengths {
    double placebo = 100.0;
    double mem = 110.0;
    double sham = 103.0;  // the sham's barriers take 3 ms
    double delayed = 108.0;
    double recorded_delay = 5.0;   // in the steps of control.delay
    double paused = 0.0;           // 0: no control.pause in the schedule
    double stopped = 0.0;          // of each of its steps, the process is stopped for this time
    double stopped_once = 0.0;     // every 30th of its steps is longer by this time, while stopped
    double another_placebo = 0.0;  // 0: none in the schedule; another_delay likewise
    double another_delay = 0.0;
    bool with_delay = true;
    bool with_sham = true;
    bool computes_on_gpu = false;
    int blocks = 12;
    int draws = 999;
};

struct Made {
    analysis::DesignedRun run;
    analysis::Analysis analysis;
};

std::vector<std::pair<std::vector<analysis::Assigned>, double>> treatments_of(const Lengths& lengths)
{
    std::vector<std::pair<std::vector<analysis::Assigned>, double>> treatments{
        {{}, 100.0}, {{{"mem", "", "memory.stream"}}, lengths.mem}};
    if (lengths.placebo > 0.0)
        treatments.push_back({{{"placebo", "", "placebo", base::Role::placebo}}, lengths.placebo});
    if (lengths.with_delay)
        treatments.push_back({{{"delay", "", "control.delay", base::Role::delay}}, lengths.delayed});
    if (lengths.with_sham) treatments.push_back({{{"sham", "", "control.sham", base::Role::sham}}, lengths.sham});
    if (lengths.another_placebo > 0.0)
        treatments.push_back({{{"idle", "", "placebo", base::Role::placebo}}, lengths.another_placebo});
    if (lengths.another_delay > 0.0)
        treatments.push_back({{{"late", "", "control.delay", base::Role::delay}}, lengths.another_delay});
    if (lengths.paused > 0.0)
        treatments.push_back({{{"pause", "", "control.pause", base::Role::pause}}, lengths.paused});
    return treatments;
}

Made made(const Lengths& lengths)
{
    const auto treatments = treatments_of(lengths);
    std::vector<analysis::Slot> slots;
    Made result;
    result.run.computes_while_stopped = result.run.computes_on_gpu = lengths.computes_on_gpu;
    analysis::RankSteps& rank = result.run.steps.ranks.emplace_back();
    std::vector<analysis::TimeSpan>& stopped = result.run.stopped.emplace_back();
    result.run.steps.phases = {"backward", "control_delay"};
    std::vector<double> delays;
    std::int64_t time = 0;
    int paused_steps = 0;
    for (int block = 0; block < lengths.blocks; ++block)
        for (std::size_t t = 0; t < treatments.size(); ++t) {
            const auto& [on, ms] = treatments[(t + static_cast<std::size_t>(block)) % treatments.size()];
            const std::string stressor = on.empty() ? "" : on[0].stressor;
            const std::int64_t begin = time;
            // No two slots are quite equal: without variation, rounding errors would count as effects.
            const auto b = static_cast<std::size_t>(block);
            const double slot_ms =
                0.01 * static_cast<double>((b * b * 31 + b * t * 17 + t * t * 5 + 27) * 133 % 1009 % 7);
            for (int i = 0; i < 10; ++i) {
                result.run.steps.numbers.push_back(static_cast<std::int64_t>(rank.begin_ns.size()));
                rank.begin_ns.push_back(time);
                const bool once = stressor == "control.pause" && ++paused_steps % 30 == 0;
                const double longer = once ? lengths.stopped_once : 0.0;
                const double stopped_ms = lengths.stopped + longer;
                if (stressor == "control.pause" && stopped_ms > 0.0)
                    stopped.push_back(
                        {time + 10'000'000, time + 10'000'000 + static_cast<std::int64_t>(stopped_ms * 1e6)});
                time += static_cast<std::int64_t>((ms + longer + 0.1 * (block % 3) + slot_ms + 0.01 * i) * 1e6);
                rank.end_ns.push_back(time);
                delays.push_back(stressor == "control.delay" ? lengths.recorded_delay : 0.0);
            }
            slots.push_back({block, begin, time, on});
        }
    rank.phase_ms.resize(static_cast<Eigen::Index>(delays.size()), 2);
    for (Eigen::Index i = 0; i < rank.phase_ms.rows(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        rank.phase_ms(i, 1) = delays[at];
        rank.phase_ms(i, 0) = static_cast<double>(rank.end_ns[at] - rank.begin_ns[at]) / 1e6 - delays[at];
    }
    result.run.plan = analysis::experiment(analysis::Design::rotation, slots);
    result.run.slots = {slots};
    result.analysis =
        analysis::analyse(result.run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = lengths.draws}});
    return result;
}

analysis::Verdict verdict_of(const Made& made, const std::vector<std::string>& broken = {})
{
    return analysis::verdict(made.run, made.analysis, broken, {});
}

bool says(const analysis::Verdict& verdict, const std::string& word)
{
    return std::any_of(verdict.reasons.begin(), verdict.reasons.end(),
                       [&](const std::string& reason) { return reason.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("a run whose controls hold is trustworthy")
{
    const analysis::Verdict verdict = verdict_of(made({}));
    CHECK(verdict.trustworthy);
    CHECK(verdict.covered);
    REQUIRE(verdict.delay);
    CHECK(verdict.delay->true_percent == doctest::Approx(5.0).epsilon(0.01));
    REQUIRE(verdict.factors.size() == 1);
    CHECK(verdict.factors[0].verdict == "unsafe");
    CHECK(verdict.factors[0].cause.phase == "backward");
    CHECK(verdict.factors[0].cause.mechanism == analysis::Mechanism::compute);
    CHECK(verdict.factors[0].setting.text ==
          analysis::advice("memory.stream", {"", analysis::Mechanism::compute, ""}, "unsafe").text);
}

TEST_CASE("what would be safe in a run that is not trustworthy is untrusted, and what is unsafe is that there too")
{
    const auto word = [](double mem, const std::vector<std::string>& broken) {
        const analysis::Verdict verdict = verdict_of(made({.mem = mem}), broken);
        REQUIRE(verdict.factors.size() == 1);
        return verdict.factors[0].verdict;
    };
    CHECK(word(100.3, {}) == "safe");
    CHECK(word(100.3, {"noise came late"}) == "untrusted");
    CHECK(word(110.0, {"noise came late"}) == "unsafe");
}

TEST_CASE("a run that did not find its control delay is insensitive: it acquits no noise")
{
    // A delay of 0.01 %, where slots differ by up to 0.06 %: its interval includes both the truth and zero.
    const analysis::Verdict blind = verdict_of(made({.mem = 100.3, .delayed = 103.0, .recorded_delay = 0.01}));
    CHECK(blind.trustworthy);
    REQUIRE(blind.delay);
    CHECK(blind.delay->holds);
    CHECK_FALSE(blind.delay->found);
    REQUIRE(blind.insensitive.size() == 1);
    CHECK(blind.insensitive[0].find("the control delay of 0.01 % was not found") != std::string::npos);
    CHECK(blind.factors.at(0).verdict == "insensitive");
    CHECK(blind.factors.at(0).why == blind.insensitive[0]);
    CHECK_FALSE(analysis::decided(blind));
    // An unsafe noise is seen even without a working control.
    CHECK(verdict_of(made({.delayed = 103.0, .recorded_delay = 0.01})).factors.at(0).verdict == "unsafe");
    CHECK(verdict_of(made({.mem = 100.3})).insensitive.empty());
}

TEST_CASE("whether a run can be trusted does not depend on the budget")
{
    const Made run = made({.placebo = 102.0});
    for (const double budget : {0.1, 1.0, 50.0}) {
        const analysis::Verdict verdict = analysis::verdict(run.run, run.analysis, {}, {.budget_percent = budget});
        CHECK_FALSE(verdict.trustworthy);
        CHECK(verdict.reasons == verdict_of(run).reasons);
    }
}

TEST_CASE("a placebo with an effect is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({.placebo = 102.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "the placebo came out as 2.00 %"));
}

TEST_CASE("a delay that measures as something else is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({.delayed = 106.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "the control delay came out as"));
}

TEST_CASE("a control that the training never heard of is not connected")
{
    const analysis::Verdict verdict = verdict_of(made({.sham = 100.0, .delayed = 100.0, .recorded_delay = 0.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "not connected"));
}

TEST_CASE("a schedule without controls proves nothing")
{
    const analysis::Verdict verdict = verdict_of(made({.placebo = 0.0, .with_delay = false, .with_sham = false}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "no placebo"));
    CHECK(says(verdict, "neither control.delay nor control.pause"));
    CHECK(verdict.covered);
    REQUIRE(verdict.insensitive.size() == 1);
    CHECK(verdict.insensitive[0].find("no positive control") != std::string::npos);
}

TEST_CASE("a broken promise of the noise is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({}), {"no noise process on the node of rank 1"});
    CHECK_FALSE(verdict.trustworthy);
    CHECK_FALSE(verdict.covered);
    CHECK(says(verdict, "rank 1"));
}

TEST_CASE("the delay is measured against the sham, and what the barriers cost is reported by itself")
{
    const analysis::Verdict verdict = verdict_of(made({}));
    REQUIRE(verdict.delay);
    REQUIRE(verdict.sham);
    CHECK(verdict.delay->percent.value == doctest::Approx(5.0).epsilon(0.01));
    CHECK(verdict.sham->percent.value == doctest::Approx(3.0).epsilon(0.01));
}

TEST_CASE("a delay without a sham counts its barriers and is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({.with_sham = false}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "control.delay lacks control.sham"));
    CHECK(verdict.delay->percent.value == doctest::Approx(8.0).epsilon(0.01));
}

TEST_CASE("a pause that costs what was stopped is enough of a positive control")
{
    const analysis::Verdict verdict =
        verdict_of(made({.paused = 104.0, .stopped = 4.0, .with_delay = false, .with_sham = false}));
    CHECK(verdict.trustworthy);
    REQUIRE(verdict.pause);
    CHECK(verdict.pause->true_percent == doctest::Approx(4.0).epsilon(0.01));
}

TEST_CASE("a pause that measures as something else than what was stopped is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({.paused = 101.0, .stopped = 4.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "the control pause came out as"));
    CHECK_FALSE(says(verdict, "steps at fixed times"));
}

TEST_CASE("steps that a pause does not lengthen come by time, which is a reason")
{
    const analysis::Verdict verdict = verdict_of(made({.paused = 100.0, .stopped = 4.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "steps at fixed times, such as progress lines, show no slowdown"));
}

TEST_CASE("steps that a pause made far longer than the others are no outliers")
{
    // 4 of 120 steps of 100 ms are stopped for 60 ms: the mean step is 2 % longer.
    const Made run = made({.paused = 100.0, .stopped_once = 60.0});
    CHECK(run.analysis.long_steps.count() == 0);
    const analysis::Verdict verdict = verdict_of(run);
    REQUIRE(verdict.pause);
    CHECK(verdict.pause->percent.value == doctest::Approx(2.0).epsilon(0.01));
    CHECK(verdict.pause->true_percent == doctest::Approx(2.0).epsilon(0.01));
}

TEST_CASE("an accident in a step that was stopped is an outlier all the same")
{
    Made run = made({.paused = 100.0, .stopped_once = 60.0});
    const analysis::TimeSpan stop = run.run.stopped.front().front();
    analysis::RankSteps& rank = run.run.steps.ranks.front();
    std::size_t hit = 0;
    while (rank.end_ns[hit] < stop.end_ns) ++hit;
    const auto outliers_if_longer_by = [&](std::int64_t ns) {
        analysis::DesignedRun longer = run.run;
        longer.steps.ranks.front().end_ns[hit] += ns;
        return analysis::analyse(longer, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}}).long_steps.count();
    };
    CHECK(outliers_if_longer_by(50'000'000) == 0);  // explained by the stop and its after-effect
    CHECK(outliers_if_longer_by(200'000'000) == 1);
}

TEST_CASE("of several controls of a kind each is judged and the one that fails is shown by its name")
{
    const analysis::Verdict fine = verdict_of(made({.another_placebo = 100.0, .another_delay = 108.0}));
    CHECK(fine.trustworthy);
    const analysis::Verdict placebo = verdict_of(made({.another_placebo = 102.0}));
    CHECK_FALSE(placebo.trustworthy);
    CHECK(says(placebo, "the placebo 'idle' came out as "));
    CHECK(placebo.placebo->percent.value == doctest::Approx(2.0).epsilon(0.01));
    // Both delays are measured against the sham, which takes 103 ms, and both are recorded as 5 ms.
    const analysis::Verdict delay = verdict_of(made({.another_delay = 106.0}));
    CHECK_FALSE(delay.trustworthy);
    CHECK(says(delay, "the control delay 'late' came out as 3.00 %"));
}

TEST_CASE("a pause that stopped nothing is not connected")
{
    const analysis::Verdict verdict = verdict_of(made({.paused = 100.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "no process of the training was stopped"));
}

TEST_CASE("a pause is not judged where the training computes while it is stopped, and is no positive control there")
{
    const Lengths on_a_gpu{.paused = 100.0, .stopped = 4.0, .computes_on_gpu = true};
    const analysis::Verdict with_delay = verdict_of(made(on_a_gpu));
    CHECK(with_delay.trustworthy);
    CHECK_FALSE(with_delay.pause->judged);
    Lengths without_delay = on_a_gpu;
    without_delay.with_delay = without_delay.with_sham = false;
    CHECK(says(verdict_of(made(without_delay)), "computes while stopped"));
}

TEST_CASE("where a GPU may hide a delay and nothing is known of it the way to know is said")
{
    const char* const way = "only ddl-train --trace-gpu records";
    CHECK(says(verdict_of(made({.delayed = 103.0, .computes_on_gpu = true})), way));
    CHECK_FALSE(says(verdict_of(made({.delayed = 103.0})), way));
    CHECK_FALSE(says(verdict_of(made({.computes_on_gpu = true})), way));
}

TEST_CASE("no cause is named where the slowdown may be chance")
{
    const Made run = made({});
    const analysis::Effect* found = analysis::find(run.analysis.effects, "mem", "", analysis::Kind::alone, "step");
    REQUIRE(found != nullptr);
    CHECK(analysis::cause_of(run.run, run.analysis, *found, 0.95).phase == "backward");
    analysis::Effect step = *found;
    step.p_holm = 0.06;
    analysis::Cause cause = analysis::cause_of(run.run, run.analysis, step, 0.95);
    CHECK(cause.phase.empty());
    CHECK(cause.mechanism == analysis::Mechanism::unknown);
    CHECK(cause.sentence.find("p 0.06") != std::string::npos);
    step = *found;
    step.percent.value = 0.0;
    cause = analysis::cause_of(run.run, run.analysis, step, 0.95);
    CHECK(cause.phase.empty());
    CHECK(cause.sentence == "No slowdown that differs from zero.");
}

TEST_CASE("no cause is named where blocks or draws are too few for any effect to be told from chance")
{
    const auto said = [](const Lengths& lengths) { return verdict_of(made(lengths)).factors.at(0).cause.sentence; };
    // In each block mem and quiet can be exchanged: 4 blocks have 16 orders, so p is at least 1/16.
    CHECK(said({.blocks = 4}).find("too few blocks") != std::string::npos);
    // The assigned order and nine draws.
    CHECK(said({.draws = 9}).find("too few draws") != std::string::npos);
    CHECK(said({}).find("too few") == std::string::npos);
}

TEST_CASE("a trace without phases carries no cause")
{
    Made run = made({});
    run.run.steps.phases = {"other"};
    const analysis::Effect* step = analysis::find(run.analysis.effects, "mem", "", analysis::Kind::alone, "step");
    const analysis::Cause cause = analysis::cause_of(run.run, run.analysis, *step, 0.95);
    CHECK(cause.phase.empty());
    CHECK(cause.sentence == "The archive records no phases.");
}
