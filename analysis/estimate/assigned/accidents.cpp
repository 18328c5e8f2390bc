// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/assigned/accidents.hpp"

#include "base/contract/roles.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <numeric>

namespace analysis {

namespace {

constexpr double by_chance = 0.01;
constexpr double beyond_doubt = 0.001;
constexpr int draws = 4999;

bool is_noise(const Treatment& treatment)
{
    return std::any_of(treatment.on.begin(), treatment.on.end(),
                       [](const Assigned& on) { return on.role == base::Role::treatment; });
}

struct BySlot {
    std::vector<double> steps;      // number of steps that began in the slot
    std::vector<double> excess_ms;  // excess of the accidents that began in the slot
};

// Times by treatment.
struct Times {
    std::vector<double> all_ms;
    std::vector<double> accidents_ms;
    std::vector<double> excess_ms;
};

enum class Side { more, fewer };

// One-sided p of the excess in slots with this treatment, by exchange of its labels with those of slots without noise
// within blocks.
double exchanged_p(std::size_t treatment, const std::vector<bool>& baseline, const BySlot& slots,
                   const Experiment& plan, std::uint64_t seed, Side side = Side::more)
{
    double steps = 0.0;
    double excess = 0.0;
    struct Block {
        std::vector<double> scores;
        std::size_t with = 0;
        double assigned = 0.0;
        bool any = false;
    };
    std::vector<Block> blocks(static_cast<std::size_t>(plan.blocks));
    const auto takes_part = [&](std::size_t s) {
        return plan.treatment_of[s] == treatment || baseline[plan.treatment_of[s]];
    };
    for (std::size_t s = 0; s < plan.treatment_of.size(); ++s) {
        if (!takes_part(s)) continue;
        steps += slots.steps[s];
        excess += slots.excess_ms[s];
    }
    if (excess <= 0.0) return 1.0;
    for (std::size_t s = 0; s < plan.treatment_of.size(); ++s) {
        if (!takes_part(s)) continue;
        Block& block = blocks[static_cast<std::size_t>(plan.block_of[s])];
        const double score = slots.excess_ms[s] - excess / steps * slots.steps[s];
        block.scores.push_back(score);
        block.any = block.any || slots.excess_ms[s] > 0.0;
        if (plan.treatment_of[s] != treatment) continue;
        ++block.with;
        block.assigned += score;
    }
    // Blocks without accidents have no information: their slots differ only in the number of steps.
    std::erase_if(blocks, [](const Block& block) { return !block.any || block.with == 0; });
    double assigned = 0.0;
    for (const Block& block : blocks) assigned += block.assigned;
    base::Random random{seed};
    int as_much = 1;
    for (int draw = 0; draw < draws; ++draw) {
        double drawn = 0.0;
        for (Block& block : blocks)
            for (std::size_t i = 0; i < block.with; ++i) {
                const std::size_t other =
                    i + static_cast<std::size_t>(base::draw_below(random, block.scores.size() - i));
                std::swap(block.scores[i], block.scores[other]);
                drawn += block.scores[i];
            }
        if (side == Side::more ? drawn >= assigned - 1e-9 * excess : drawn <= assigned + 1e-9 * excess) ++as_much;
    }
    return static_cast<double>(as_much) / (draws + 1.0);
}

}  // namespace

std::vector<AccidentRate> charge_accidents(const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                                           const base::LongColumn<int>& block, LongSteps& steps, std::uint64_t seed)
{
    BySlot slots{std::vector<double>(plan.treatment_of.size(), 0.0),
                 std::vector<double>(plan.treatment_of.size(), 0.0)};
    const std::size_t treatments = plan.treatments.size();
    Times times{std::vector<double>(treatments, 0.0), std::vector<double>(treatments, 0.0),
                std::vector<double>(treatments, 0.0)};
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        const std::size_t treatment = treatment_of(exposures, plan, i);
        const auto slot = static_cast<std::size_t>(exposures.slot[i]);
        const double ms = step_ms.first(i);
        slots.steps[slot] += 1.0;
        times.all_ms[treatment] += ms;
        if (steps.kind[i] != LongSteps::accident) continue;
        const double excess_ms = (1.0 - steps.regular[i]) * ms;
        slots.excess_ms[slot] += excess_ms;
        times.accidents_ms[treatment] += ms;
        times.excess_ms[treatment] += excess_ms;
    }
    std::vector<bool> baseline;
    for (const Treatment& treatment : plan.treatments) baseline.push_back(is_without_noise(treatment));
    bool without_noise = false;
    for (std::size_t t = 0; t < treatments; ++t)
        without_noise = without_noise || (baseline[t] && times.excess_ms[t] > 0.0);

    std::vector<AccidentRate> rates;
    for (std::size_t t = 0; t < treatments; ++t) {
        AccidentRate rate;
        const double used = static_cast<double>(std::max<std::size_t>(1, steps.used[t]));
        rate.percent_of_steps = 100.0 * static_cast<double>(steps.accidents[t]) / used;
        if (times.all_ms[t] > 0.0) {
            rate.percent_of_time = 100.0 * times.accidents_ms[t] / times.all_ms[t];
            rate.excess_percent = 100.0 * times.excess_ms[t] / (times.all_ms[t] - times.excess_ms[t]);
        }
        constexpr double none_met = 3.69;  // 0 of N: the rate is at most 3.69 / N, half of chi-square's 97.5 % quantile
        if (steps.accidents[t] == 0) rate.unmet_one_in = static_cast<double>(steps.used[t]) / none_met;
        std::vector<bool> others = baseline;
        others[t] = false;
        const bool by_exchange = t > 0 && plan.randomised();
        rate.p = by_exchange ? exchanged_p(t, others, slots, plan, seed) : 1.0;
        const double p_fewer = by_exchange ? exchanged_p(t, others, slots, plan, seed, Side::fewer) : 1.0;
        rate.only_here = is_noise(plan.treatments[t]) && !without_noise && times.excess_ms[t] > 0.0;
        const double p = std::min(rate.p, p_fewer);
        rate.charged = !steps.rare || rate.only_here || (is_noise(plan.treatments[t]) && p <= by_chance);
        steps.charged[t] = rate.charged;
        steps.surely[t] = steps.charged[t] && (!steps.rare || p <= beyond_doubt);
        if (plan.treatments[t].on.size() > 1) continue;
        if (t == 0) rate.factor = "quiet";
        if (t > 0) rate.factor = plan.treatments[t].on.front().factor;
        if (t > 0) rate.level = plan.treatments[t].on.front().level;
        rates.push_back(std::move(rate));
    }
    return rates;
}

void settle_shares(const Exposures& exposures, const Experiment& plan, const base::LongColumn<int>& block,
                   LongSteps& steps, std::uint64_t seed)
{
    if (!plan.randomised()) return;
    std::vector<bool> baseline;
    for (const Treatment& treatment : plan.treatments) baseline.push_back(is_without_noise(treatment));
    for (std::size_t s = 0; s < steps.strata.size(); ++s) {
        StepStratum& stratum = steps.strata[s];
        if (stratum.period > 0) continue;
        BySlot slots{std::vector<double>(plan.treatment_of.size(), 0.0),
                     std::vector<double>(plan.treatment_of.size(), 0.0)};
        std::vector<double> count(plan.treatments.size(), 0.0);
        for (std::size_t i = 0; i < block.size(); ++i) {
            if (block[i] < 0) continue;
            const auto slot = static_cast<std::size_t>(exposures.slot[i]);
            slots.steps[slot] += 1.0;
            if (steps.kind[i] != static_cast<std::int8_t>(s)) continue;
            slots.excess_ms[slot] += 1.0;
            count[treatment_of(exposures, plan, i)] += 1.0;
        }
        const auto share_of = [&](std::vector<std::size_t> some) {
            StratumShare share{std::move(some)};
            double members = 0.0;
            for (const std::size_t t : share.treatments) {
                members += count[t];
                share.of += static_cast<double>(steps.used[t]);
            }
            share.value = share.of > 0.0 ? members / share.of : 0.0;
            return share;
        };
        std::vector<std::size_t> without_noise;
        std::vector<std::size_t> alike;
        for (std::size_t t = 0; t < plan.treatments.size(); ++t) {
            const auto p = [&](Side side) { return exchanged_p(t, baseline, slots, plan, seed, side); };
            if (baseline[t])
                without_noise.push_back(t);
            else
                stratum.counted.push_back(share_of({t}));
            if (baseline[t] || std::min(p(Side::more), p(Side::fewer)) > by_chance / 2.0)
                alike.push_back(t);
            else
                stratum.assumed.push_back(stratum.counted.back());
        }
        stratum.counted.push_back(share_of(std::move(without_noise)));
        stratum.assumed.push_back(share_of(std::move(alike)));
    }
}

}  // namespace analysis
