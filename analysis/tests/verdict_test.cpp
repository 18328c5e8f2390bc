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

TEST_CASE("a decided factor needs no more minutes and one at the budget more than a day")
{
    CHECK(analysis::minutes_missing(Mean{3.0, 0.1, 19.0}, 0.95, 1.0, 0.1) == 0.0);
    CHECK(analysis::minutes_missing(Mean{1.0, 0.1, 19.0}, 0.95, 1.0, 0.1) == analysis::minutes_missing_limit);
}

TEST_CASE("the minutes missing shrink the half width to the margin")
{
    const Mean estimate{0.5, 0.5, 19.0};
    const double minutes = analysis::minutes_missing(estimate, 0.95, 1.0, 0.1);
    const double blocks = 20.0 + minutes / 0.1;
    const double half = analysis::t_quantile(0.95, blocks - 1.0) * 0.5 * std::sqrt(20.0 / blocks);
    CHECK(half < 0.5);
    CHECK(half > 0.48);
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
    for (int block = 0; block < 8; ++block)
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
    result.analysis = analysis::analyse(result.run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 99}});
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
    CHECK(verdict.factors[0].phase == "backward");
    CHECK(verdict.factors[0].setting == analysis::advice("memory.stream", "unsafe"));
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
