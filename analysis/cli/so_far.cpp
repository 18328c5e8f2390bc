// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/so_far.hpp"

#include "analysis/conclude/verdict.hpp"
#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <cmath>
#include <optional>
#include <vector>

namespace analysis {

namespace {

// "memory.stream +10.2 % ± 4.1", and the verdict if intervals are valid at every check
std::string shown(const FactorVerdict& factor, bool looked)
{
    const double half = factor.interval.half_width();
    return base::factor_name(factor.factor, factor.level) + " " + signed_percent(factor.percent.value) + " ± " +
           (half < 1000.0 ? fixed(half, half < 9.995 ? 1 : 0) : "more than 1000") +
           (looked ? " " + factor.verdict : std::string{});
}

struct EstimateSoFar {
    int blocks = 0;
    Verdict verdict;
};

// The estimate so far. None if there is no interval yet: some treatment was never on, or there are fewer than two
// complete blocks.
std::optional<EstimateSoFar> estimate(const RunSoFar& so_far, const Settings& settings)
try {
    DesignedRun run;
    run.steps = so_far.steps;
    run.slots = {so_far.slots};
    run.stopped = {so_far.stopped};
    run.plan = experiment(so_far.design, so_far.slots);
    const Rules rules{.exposure = {warm_up_steps(settings, run), settings.guard},
                      .draws = {.count = 0},
                      .by_rank = false,
                      .looks = settings.looks};
    const Analysis analysis = analyse(run, rules);
    return EstimateSoFar{
        analysis.blocks,
        verdict(run, analysis, {}, {settings.budget.value, settings.confidence.fraction(), settings.looks})};
} catch (const base::Error&) {
    return std::nullopt;
}

}  // namespace

SoFar so_far(const RunSoFar& run, const Settings& settings)
{
    if (run.steps.numbers.empty()) return {"no step yet"};
    const RankSteps& rank = run.steps.ranks.front();
    const double seconds = static_cast<double>(rank.end_ns.back() - rank.begin_ns.front()) / 1e9;
    const std::string head = base::join(std::lround(seconds), " s, ", counted(run.steps.numbers.size(), "step"), ": ");
    const std::optional<EstimateSoFar> found = estimate(run, settings);
    if (!found || found->verdict.factors.empty())
        return {head + (run.slots.empty() ? "no noise yet" : "no interval before two blocks")};
    std::vector<std::string> effects;
    const Verdict& verdict = found->verdict;
    for (const FactorVerdict& factor : verdict.factors) effects.push_back(shown(factor, settings.looks != Looks::none));
    std::string line = head + base::join_words(effects, ", ") + base::join(" (budget ", settings.budget.value, " %)");
    const bool waits_for_trust = settings.looks != Looks::none && decided(verdict) && !verdict.trustworthy;
    if (waits_for_trust) line += "; still measuring: " + verdict.reasons.front();
    return {line, found->blocks, decided(verdict) && verdict.trustworthy};
}

}  // namespace analysis
