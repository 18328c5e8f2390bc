// The verdict's rules.
#include "analysis/verdict.hpp"

#include "analysis/advice.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using analysis::Mean;

TEST_CASE("safe below the budget and unsafe above it and else undecided")
{
    CHECK(analysis::judge({-0.5, 0.9}, 1.0) == "safe");
    CHECK(analysis::judge({1.1, 3.0}, 1.0) == "unsafe");
    CHECK(analysis::judge({0.9, 1.1}, 1.0) == "undecided");
    CHECK(analysis::judge({-3.0, 3.0}, 1.0) == "undecided");
}

TEST_CASE("a forecast is of the half width and of a whole new run")
{
    // 20 blocks, standard deviation 2.236: 37 blocks give 2.028 x 2.236 / sqrt(37) = 0.745, 36 blocks 0.757.
    const auto forecast = analysis::forecast(Mean{0.5, 0.5, 19.0}, 0.95, 1.0, 10.0);
    REQUIRE(forecast);
    CHECK(forecast->half_width_percent == doctest::Approx(0.75));
    CHECK(forecast->minutes == doctest::Approx(10.0 * 37.0 / 20.0));
    // The estimate has no part in it.
    CHECK(analysis::forecast(Mean{-4.0, 0.5, 19.0}, 0.95, 1.0, 10.0)->minutes == forecast->minutes);
}

TEST_CASE("an interval that is narrow already is halved by a run four times as long or a little less")
{
    const auto forecast = analysis::forecast(Mean{1.0, 0.1, 19.0}, 0.95, 1.0, 10.0);
    REQUIRE(forecast);
    CHECK(forecast->half_width_percent == doctest::Approx(2.093 * 0.1 / 2.0).epsilon(0.001));
    CHECK(forecast->minutes > 36.0);
    CHECK(forecast->minutes < 40.0);
}

TEST_CASE("below ten blocks nothing is forecast and beyond a day no more than that")
{
    CHECK_FALSE(analysis::forecast(Mean{0.5, 0.5, 8.0}, 0.95, 1.0, 10.0));
    CHECK(analysis::forecast(Mean{0.5, 0.5, 9.0}, 0.95, 1.0, 10.0));
    CHECK(analysis::forecast(Mean{0.5, 50.0, 19.0}, 0.95, 1.0, 10.0)->minutes == analysis::forecast_limit_minutes);
}

TEST_CASE("advice depends on what noise got in the way of")
{
    using analysis::Mechanism;
    const auto says = [](const char* stressor, Mechanism mechanism, const char* word) {
        return analysis::advice(stressor, mechanism, "unsafe").find(word) != std::string::npos;
    };
    CHECK(says("memory.stream", Mechanism::compute, "resctrl"));
    CHECK(says("memory.stream", Mechanism::input, "more readers"));
    CHECK(says("network.exchange", Mechanism::compute, "smp_affinity"));
    CHECK(says("network.exchange", Mechanism::transfer, "Licenses=network"));
    CHECK(says("io.write", Mechanism::input, "sbcast"));
    CHECK(says("io.write", Mechanism::checkpoint, "Checkpoints share the disk"));
    CHECK(says("io.write", Mechanism::unknown, "Licenses=scratch"));
    CHECK(says("of.another.world", Mechanism::compute, "Keep such jobs off"));
    CHECK(analysis::advice("io.write", Mechanism::input, "undecided").find("measure longer") != std::string::npos);
}

namespace {

// One rank, chips of ten steps: quiet, placebo, mem and delay, of the given lengths in ms.
struct Made {
    analysis::DesignedRun run;
    analysis::Analysis analysis;
};

Made made(double placebo_ms, double mem_ms, double delayed_ms, double recorded_delay_ms, bool with_controls = true)
{
    std::vector<std::pair<std::vector<analysis::Assigned>, double>> treatments{
        {{}, 100.0}, {{{"mem", "", "memory.stream"}}, mem_ms}};
    if (with_controls) {
        treatments.push_back({{{"placebo", "", "placebo"}}, placebo_ms});
        treatments.push_back({{{"delay", "", "control.delay"}}, delayed_ms});
    }
    std::vector<analysis::Chip> chips;
    Made result;
    analysis::RankSteps& rank = result.run.steps.ranks.emplace_back();
    result.run.steps.phases = {"backward", "control_delay"};
    std::vector<double> delays;
    std::int64_t time = 0;
    for (int block = 0; block < 12; ++block)
        for (std::size_t t = 0; t < treatments.size(); ++t) {
            const auto& [on, ms] = treatments[(t + static_cast<std::size_t>(block)) % treatments.size()];
            const std::int64_t begin = time;
            for (int i = 0; i < 10; ++i) {
                result.run.steps.numbers.push_back(static_cast<std::int64_t>(rank.begin_ns.size()));
                rank.begin_ns.push_back(time);
                time += static_cast<std::int64_t>((ms + 0.1 * (block % 3) + 0.01 * i) * 1e6);
                rank.end_ns.push_back(time);
                delays.push_back(!on.empty() && on[0].stressor == "control.delay" ? recorded_delay_ms : 0.0);
            }
            chips.push_back({block, begin, time, on});
        }
    rank.phase_ms.resize(static_cast<Eigen::Index>(delays.size()), 2);
    for (Eigen::Index i = 0; i < rank.phase_ms.rows(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        rank.phase_ms(i, 1) = delays[at];
        rank.phase_ms(i, 0) = static_cast<double>(rank.end_ns[at] - rank.begin_ns[at]) / 1e6 - delays[at];
    }
    result.run.plan = analysis::experiment(analysis::Design::rotation, chips);
    result.run.chips = {chips};
    result.analysis = analysis::analyse(result.run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 999}});
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
    const analysis::Verdict verdict = verdict_of(made(100.0, 110.0, 105.0, 5.0));
    CHECK(verdict.trustworthy);
    CHECK(verdict.covered);
    REQUIRE(verdict.delay);
    CHECK(verdict.delay->true_percent == doctest::Approx(5.0).epsilon(0.01));
    REQUIRE(verdict.factors.size() == 1);
    CHECK(verdict.factors[0].verdict == "unsafe");
    CHECK(verdict.factors[0].cause.phase == "backward");
    CHECK(verdict.factors[0].cause.mechanism == analysis::Mechanism::compute);
    CHECK(verdict.factors[0].setting == analysis::advice("memory.stream", analysis::Mechanism::compute, "unsafe"));
}

TEST_CASE("a placebo with an effect is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made(102.0, 110.0, 105.0, 5.0));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "the placebo came out as 2.00 %"));
}

TEST_CASE("a delay that measures as something else is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made(100.0, 110.0, 103.0, 5.0));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "the control delay came out as"));
}

TEST_CASE("a control that the training never heard of is not connected")
{
    const analysis::Verdict verdict = verdict_of(made(100.0, 110.0, 100.0, 0.0));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "not connected"));
}

TEST_CASE("a schedule without controls proves nothing")
{
    const analysis::Verdict verdict = verdict_of(made(0.0, 110.0, 0.0, 0.0, false));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "no placebo"));
    CHECK(says(verdict, "no control delay"));
    CHECK(verdict.covered);
}

TEST_CASE("a broken promise of the noise is distrusted")
{
    const analysis::Verdict verdict =
        verdict_of(made(100.0, 110.0, 105.0, 5.0), {"no noise process on the node of rank 1"});
    CHECK_FALSE(verdict.trustworthy);
    CHECK_FALSE(verdict.covered);
    CHECK(says(verdict, "rank 1"));
}

TEST_CASE("no cause is named where the slowdown may be chance")
{
    const Made run = made(100.0, 110.0, 105.0, 5.0);
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

TEST_CASE("a trace without phases carries no cause")
{
    Made run = made(100.0, 110.0, 105.0, 5.0);
    run.run.steps.phases = {"other"};
    const analysis::Effect* step = analysis::find(run.analysis.effects, "mem", "", analysis::Kind::alone, "step");
    const analysis::Cause cause = analysis::cause_of(run.run, run.analysis, *step, 0.95);
    CHECK(cause.phase.empty());
    CHECK(cause.sentence == "The archive records no phases.");
}
