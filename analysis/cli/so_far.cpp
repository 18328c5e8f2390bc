#include "analysis/cli/so_far.hpp"

#include "analysis/estimate/analyse.hpp"
#include "analysis/report/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <cmath>
#include <vector>

namespace analysis {

namespace {

// "memory.stream +10.2 % ± 4.1"
std::string shown(const Effect& effect, double confidence)
{
    const double half = effect.percent.interval(confidence).half_width();
    return base::factor_name(effect.factor, effect.level) + " " + signed_percent(effect.percent.value) + " ± " +
           (half < 1000.0 ? fixed(half, half < 9.995 ? 1 : 0) : "more than 1000");
}

// None where there is no interval yet: a treatment that was never on, fewer than two blocks that hold all.
std::vector<std::string> effects_of(const RunSoFar& so_far, const Settings& settings)
try {
    DesignedRun run;
    run.steps = so_far.steps;
    run.slots = {so_far.slots};
    run.stopped = {{}};
    run.plan = experiment(so_far.design, so_far.slots);
    const Rules rules{
        .exposure = {first_warm_step(settings, run.steps), settings.guard}, .draws = {.count = 0}, .by_rank = false};
    const Analysis analysis = analyse(run, rules);
    std::vector<std::string> all;
    for (const Effect& effect : analysis.effects)
        if (effect.phase == "step" && effect.role == base::Role::treatment && effect.kind != Kind::interaction &&
            effect.kind == judged_kind(analysis.effects, effect))
            all.push_back(shown(effect, settings.confidence.fraction()));
    return all;
} catch (const base::Error&) {
    return {};
}

}  // namespace

std::string so_far_line(const RunSoFar& run, const Settings& settings)
{
    if (run.steps.numbers.empty()) return "no step yet";
    const RankSteps& rank = run.steps.ranks.front();
    const double seconds = static_cast<double>(rank.end_ns.back() - rank.begin_ns.front()) / 1e9;
    const std::string head = base::join(std::lround(seconds), " s, ", count(run.steps.numbers.size(), "step"), ": ");
    const std::vector<std::string> effects = effects_of(run, settings);
    if (effects.empty()) return head + (run.slots.empty() ? "no noise yet" : "no interval yet, it takes two blocks");
    return head + base::join_words(effects, ", ") + base::join(" (budget ", settings.budget.value, " %)");
}

}  // namespace analysis
