// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/harm.hpp"

#include "base/error.hpp"
#include "base/figures.hpp"

#include <algorithm>
#include <cstdio>

namespace analysis {

namespace {

std::optional<std::string> harm_after(const CarryOver& left)
{
    if (left.long_steps_slots > 0)
        return base::join("long steps are more frequent, or longer, in the ",
                          left.long_steps_slots == 1 ? "slot" : base::join(left.long_steps_slots, " slots"),
                          " after it: ", base::percent(left.long_steps_percent), " of a step there");
    if (left.debt.found_percent > 0.0)
        return base::join("long steps (", left.debt.to, ") that follow it are longer, which would cost ",
                          base::percent(left.debt.found_percent));
    if (left.helps)
        return base::join("steps are shorter in the slots after it (", base::percent(left.percent.value),
                          "), which is unexpected: constant noise may cost more");
    return std::nullopt;
}

}  // namespace

std::optional<std::string> harm_beside(const Analysis& analysis, const Effect& effect, double budget_percent,
                                       double confidence)
{
    if (analysis.carry_over.empty())
        return "carry-over cannot be separated from the effect: this needs three blocks in random order";
    for (const CarryOver& left : analysis.carry_over)
        if (left.factor == effect.factor && left.level == effect.level)
            if (auto harm = harm_after(left)) return harm;
    if (const std::optional<SharedState>& shared = analysis.shared_state;
        shared && effect.percent.interval(confidence).high + shared->high_percent >= budget_percent)
        return base::join("steps without noise are ", base::percent(shared->percent), " (up to ",
                          base::percent(shared->high_percent), ") longer in the ",
                          shared->slots == 1 ? "slot" : base::join(shared->slots, " slots"),
                          " after any noise than later: effects do not include this shared part");
    const auto harms = [&](const Effect& other, double sure) {
        return other.percent.interval(sure).low > budget_percent;
    };
    const auto most = [&](const Effect& other) { return other.percent.interval(confidence).high; };
    const Effect* alone = find(analysis.effects, effect.factor, effect.level, Kind::alone, "step");
    if (effect.kind != Kind::alone && alone != nullptr) {
        if (harms(*alone, confidence))
            return base::join("without the other noises it costs ", base::percent(alone->percent.value));
        if (most(*alone) >= budget_percent)
            return base::join("without the other noises it may cost up to ", base::percent(most(*alone)));
    }
    for (const Effect& of_rank : of(analysis.effects, Family::step)) {
        if (of_rank.rank == all_ranks || of_rank.phase != "step" || of_rank.factor != effect.factor ||
            of_rank.level != effect.level || of_rank.kind != effect.kind)
            continue;
        if (harms(of_rank, distrust_confidence))
            return base::join("steps of rank ", of_rank.rank, " take ", base::percent(of_rank.percent.value),
                              " longer under it, and the slowest rank sets the speed of the job");
        if (most(effect) < budget_percent && most(of_rank) >= budget_percent)
            return base::join("steps of rank ", of_rank.rank, " may take up to ", base::percent(most(of_rank)),
                              " longer under it, and the slowest rank sets the speed of the job");
    }
    return std::nullopt;
}

}  // namespace analysis
