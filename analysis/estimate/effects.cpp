// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/effects.hpp"

#include "base/columns/long_order.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace analysis {

namespace {

std::int64_t steps_under(const Contrast& contrast, const StepsOf& steps)
{
    std::int64_t count = 0;
    for (std::size_t i = 0; i < steps.block.size(); ++i)
        if (steps.block[i] >= 0 &&
            contrast.weights[static_cast<Eigen::Index>(treatment_of(steps.exposures, steps.plan, i))] > 0.0)
            ++count;
    return count;
}

Effect effect_of(const Contrast& contrast, const std::string& phase, int rank)
{
    Effect effect;
    effect.factor = contrast.factor;
    effect.level = contrast.level;
    effect.stressor = contrast.stressor;
    effect.role = contrast.role;
    effect.kind = contrast.kind;
    effect.phase = phase;
    effect.rank = rank;
    return effect;
}

// Medians of a block's steps that are wholly under each treatment; empty if a treatment has none.
Eigen::VectorXd block_medians(const StepsByBlock& by_block, int block, const Series& series, const StepsOf& steps)
{
    std::vector<base::LongColumn<double>> times(steps.plan.treatments.size());
    by_block.each(block, [&](std::size_t step) {
        if (wholly_under_its_own(steps.exposures, steps.plan, step))
            times[treatment_of(steps.exposures, steps.plan, step)].push_back(series.measures.first(step));
    });
    Eigen::VectorXd medians(static_cast<Eigen::Index>(times.size()));
    for (std::size_t t = 0; t < times.size(); ++t) {
        if (times[t].empty()) return {};
        medians[static_cast<Eigen::Index>(t)] = base::median(times[t]);
    }
    return medians;
}

bool any_of_contrast(const Eigen::VectorXd& weights, const std::vector<bool>& treatments)
{
    for (std::size_t t = 0; t < treatments.size(); ++t)
        if (treatments[t] && weights[static_cast<Eigen::Index>(t)] != 0.0) return true;
    return false;
}

// p by exchange. If it is in doubt that a noise causes outliers, the interval spans the effects with and without them,
// and p is the larger of both; otherwise outliers by chance could be significant.
Eigen::VectorXd p_by_exchange(const Contrast& contrast, const Fit& fit, const Series& series, const StepsOf& steps,
                              const Draws& draws)
{
    const bool with_accidents = accidents_count(contrast.weights, steps.long_steps);
    Eigen::VectorXd p = rerandomised_p(contrast, fit, series, steps, with_accidents, draws);
    if (!with_accidents || any_of_contrast(contrast.weights, steps.long_steps.surely)) return p;
    return p.cwiseMax(rerandomised_p(contrast, fit, series, steps, false, draws));
}

// Computes Effect::at_least.
Mean percent_at_least(const Fit& fit, const Eigen::VectorXd& weights, const StepsOf& steps, const Mean& percent)
{
    constexpr double confidence = 0.95;
    const Combination sum = combination(fit, weights, steps.lasting);
    if (sum.carried.size() == 0 || sum.carried.isZero()) return percent;
    const bool with_accidents = accidents_count(weights, steps.long_steps);
    const Combination only_direct{weights, Eigen::VectorXd::Zero(sum.carried.size())};
    Combination only_left{Eigen::VectorXd::Zero(weights.size()), sum.carried};
    for (std::size_t n = 0; n < steps.windows.size(); ++n)
        only_left.carried[static_cast<Eigen::Index>(n)] /= steps.windows[n];
    const Mean direct = percent_of_quiet(fit, only_direct, 0, with_accidents);
    const Mean left = percent_of_quiet(fit, only_left, 0, false);
    return direct.interval(confidence).low > left.interval(confidence).low ? direct : left;
}

}  // namespace

bool accidents_count(const Eigen::VectorXd& weights, const LongSteps& steps)
{
    return any_of_contrast(weights, steps.charged);
}

Mean estimated_percent(const Fit& fit, const Eigen::VectorXd& weights, Eigen::Index measure, const StepsOf& steps)
{
    const LongSteps& long_steps = steps.long_steps;
    const bool with_accidents = accidents_count(weights, long_steps);
    const bool surely = any_of_contrast(weights, long_steps.surely);
    Mean sure = percent_of_quiet(fit, combination(fit, weights, steps.surely_lasting), measure, surely);
    if (with_accidents == surely && steps.lasting.size() == steps.surely_lasting.size()) return sure;
    const Mean all = percent_of_quiet(fit, combination(fit, weights, steps.lasting), measure, with_accidents);
    sure.or_else = {true, all.value, all.standard_error, all.more, all.fewer};
    return sure;
}

Mean percent_at_worst(const Fit& fit, const Eigen::VectorXd& weights)
{
    constexpr double confidence = 0.95;
    std::vector<Combination> ways{weights, with_carry_over(fit, weights)};
    if (!fit.strata.empty())
        for (std::size_t way = 0; way < 2; ++way) {
            ways.push_back(ways[way]);
            ways.back().strata_met = true;
        }
    std::optional<Mean> worst;
    const auto take = [&](const Mean& mean) {
        if (!worst || mean.interval(confidence).high > worst->interval(confidence).high) worst = mean;
    };
    for (Combination& way : ways) {
        const Mean assumed = percent_of_quiet(fit, way, 0, true);
        take(assumed);
        if (fit.strata.empty()) continue;
        way.strata_counted = true;
        Mean counted = percent_of_quiet(fit, way, 0, true);
        // Long steps that happened to be rare under a noise are no evidence that it is safe.
        counted.value = std::max(counted.value, assumed.value);
        take(counted);
    }
    return *worst;
}

Mean whole_percent(const Fit& fit, const Eigen::VectorXd& weights, const StepsOf& steps)
{
    Combination as_it_was = combination(fit, weights, steps.lasting);
    as_it_was.strata_counted = true;
    return percent_of_quiet(fit, as_it_was, 0, true);
}

EffectTable effects(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws)
{
    if (fit.blocks.size() < 2) base::fail("an interval needs two blocks with every treatment");
    // Steps longer than a slot are under several treatments, so labels of slots cannot be exchanged for them.
    const bool spans =
        std::any_of(fit.strata.begin(), fit.strata.end(), [](const StratumSums& stratum) { return stratum.shared; });
    EffectTable all;
    for (const Contrast& contrast : contrasts(steps.plan)) {
        const bool lasts = combination(fit, contrast.weights, steps.surely_lasting).carried.size() > 0;
        const bool exchange = steps.plan.randomised() && !contrast.exchangeable.empty() && draws.count > 0;
        const Eigen::VectorXd p = exchange ? p_by_exchange(contrast, fit, series, steps, draws) : Eigen::VectorXd{};
        const Smallest smallest = exchange ? smallest_p(contrast, fit, steps.plan, draws) : Smallest{};
        const std::int64_t count = steps_under(contrast, steps);
        for (std::size_t m = 0; m < series.names.size(); ++m) {
            const auto measure = static_cast<Eigen::Index>(m);
            Effect& effect = all.emplace_back(effect_of(contrast, series.names[m], series.rank));
            effect.percent = estimated_percent(fit, contrast.weights, measure, steps);
            effect.at_worst = m == 0 ? percent_at_worst(fit, contrast.weights) : effect.percent;
            effect.at_least = m == 0 ? percent_at_least(fit, contrast.weights, steps, effect.percent) : effect.percent;
            effect.whole = m == 0 ? whole_percent(fit, contrast.weights, steps) : effect.percent;
            effect.lacks_a_stratum = estimate(fit, contrast.weights, measure, false).lacks_a_stratum;
            effect.p = exchange && !lasts && !spans ? p[measure] : effect.percent.p_value();
            effect.smallest_p = smallest;
            effect.steps = count;
        }
    }
    return all;
}

EffectTable median_effects(const Series& series, const StepsOf& steps)
{
    const StepsByBlock by_block{steps.block, steps.plan.blocks};
    const auto treatments = static_cast<Eigen::Index>(steps.plan.treatments.size());
    std::vector<Eigen::VectorXd> blocks;
    for (int b = 0; b < steps.plan.blocks; ++b)
        if (Eigen::VectorXd medians = block_medians(by_block, b, series, steps); medians.size() > 0)
            blocks.push_back(std::move(medians));
    EffectTable all;
    if (blocks.size() < 2) return all;
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(treatments);
    for (const Eigen::VectorXd& medians : blocks) mean += medians / static_cast<double>(blocks.size());
    for (const Contrast& contrast : contrasts(steps.plan)) {
        const double ratio = contrast.weights.dot(mean) / mean[0];
        Eigen::VectorXd influence(static_cast<Eigen::Index>(blocks.size()));
        for (std::size_t b = 0; b < blocks.size(); ++b)
            influence[static_cast<Eigen::Index>(b)] =
                100.0 / mean[0] * (contrast.weights.dot(blocks[b] - mean) - ratio * (blocks[b][0] - mean[0]));
        Effect& effect = all.emplace_back(effect_of(contrast, "median step", series.rank));
        effect.family = Family::measure;
        effect.percent = mean_of(influence);
        effect.percent.value = 100.0 * ratio;
        effect.p = effect.percent.p_value();
        effect.steps = steps_under(contrast, steps);
    }
    return all;
}

void adjust(EffectTable& effects)
{
    std::map<int, std::vector<std::size_t>> of_ranks;
    for (std::size_t i = 0; i < effects.size(); ++i)
        if (effects[i].family == Family::step) of_ranks[effects[i].rank].push_back(i);
    for (const auto& [rank, members] : of_ranks) {
        std::vector<double> p;
        for (const std::size_t i : members) p.push_back(effects[i].p);
        const std::vector<double> adjusted = holm(p);
        for (std::size_t i = 0; i < members.size(); ++i) effects[members[i]].p_holm = adjusted[i];
    }
}

std::vector<std::reference_wrapper<const Effect>> of(const EffectTable& effects, Family family)
{
    std::vector<std::reference_wrapper<const Effect>> all;
    for (const Effect& effect : effects)
        if (effect.family == family) all.emplace_back(effect);
    return all;
}

const Effect* find(const EffectTable& effects, const std::string& factor, const std::string& level, Kind kind,
                   const std::string& phase, int rank, Family family)
{
    for (const Effect& effect : effects)
        if (effect.family == family && effect.factor == factor && effect.level == level && effect.kind == kind &&
            effect.phase == phase && effect.rank == rank)
            return &effect;
    return nullptr;
}

Kind judged_kind(const EffectTable& effects, const Effect& effect)
{
    const Effect* average = find(effects, effect.factor, effect.level, Kind::average, "step");
    return average == nullptr ? Kind::alone : Kind::average;
}

}  // namespace analysis
