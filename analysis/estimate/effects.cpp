#include "analysis/estimate/effects.hpp"

#include "base/columns/long_order.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

std::int64_t steps_under(const Contrast& contrast, const StepOverlaps& overlaps, const base::LongColumn<int>& block,
                         const Experiment& plan)
{
    std::int64_t steps = 0;
    for (std::size_t i = 0; i < block.size(); ++i)
        if (block[i] >= 0 && contrast.weights[static_cast<Eigen::Index>(main_treatment(overlaps[i], plan))] > 0.0)
            ++steps;
    return steps;
}

Eigen::VectorXd only_quiet(const Experiment& plan)
{
    return Eigen::VectorXd::Unit(static_cast<Eigen::Index>(plan.treatments.size()), 0);
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

void check_blocks(std::size_t complete, int planned)
{
    if (complete < 2)
        base::fail("of ", planned, " blocks ", complete, complete == 1 ? " holds" : " hold",
                   " every treatment, and an interval needs two");
}

// Medians of the steps of a block that are wholly under each treatment; empty if a treatment has none.
Eigen::MatrixXd block_medians(const StepsByBlock& steps, int block, const Series& series, const Experiment& plan)
{
    std::vector<base::LongColumn<double>> times(plan.treatments.size());
    steps.each(block, [&](std::size_t step) {
        const Overlaps overlaps = (*series.overlaps)[step];
        const std::size_t treatment = main_treatment(overlaps, plan);
        if (wholly_under(overlaps, plan, treatment)) times[treatment].push_back(series.measures.first(step));
    });
    Eigen::MatrixXd medians(static_cast<Eigen::Index>(times.size()), 1);
    for (std::size_t t = 0; t < times.size(); ++t) {
        if (times[t].empty()) return {};
        medians(static_cast<Eigen::Index>(t), 0) = base::median(times[t]);
    }
    return medians;
}

}  // namespace

Eigen::VectorXd percent_influence(const Pooled& difference, const Pooled& quiet)
{
    const double ratio = difference.value / quiet.value;
    return 100.0 / quiet.value * (difference.influence - ratio * quiet.influence);
}

Mean percent_of(const Pooled& difference, const Pooled& quiet)
{
    const Mean residual = mean_of(percent_influence(difference, quiet));
    return {100.0 * difference.value / quiet.value, residual.standard_error, residual.degrees_of_freedom};
}

std::vector<Effect> effects(const Series& series, const base::LongColumn<int>& block, const Fit& fit,
                            const Experiment& plan, const Draws& draws)
{
    check_blocks(fit.blocks.size(), plan.blocks);
    const Pooled quiet_step = pooled(fit.blocks, only_quiet(plan), 0);
    std::vector<Effect> all;
    for (const Contrast& contrast : contrasts(plan)) {
        const bool exchange = plan.randomised() && !contrast.exchangeable.empty() && draws.count > 0;
        const Eigen::VectorXd p =
            exchange ? rerandomised_p(contrast, fit, *series.overlaps, block, series.measures, plan, draws)
                     : Eigen::VectorXd{};
        const Smallest smallest = exchange ? smallest_p(contrast, fit, plan, draws) : Smallest{};
        const std::int64_t steps = steps_under(contrast, *series.overlaps, block, plan);
        for (std::size_t m = 0; m < series.names.size(); ++m) {
            const auto measure = static_cast<Eigen::Index>(m);
            Effect& effect = all.emplace_back(effect_of(contrast, series.names[m], series.rank));
            effect.percent = percent_of(pooled(fit.blocks, contrast.weights, measure), quiet_step);
            effect.p = exchange ? p[measure] : effect.percent.p_value();
            effect.smallest_p = smallest;
            effect.steps = steps;
        }
    }
    return all;
}

std::vector<Effect> median_effects(const Series& series, const base::LongColumn<int>& block, const Experiment& plan)
{
    const StepsByBlock steps{block, plan.blocks};
    std::vector<BlockMeans> blocks;
    for (int b = 0; b < plan.blocks; ++b) {
        const Eigen::MatrixXd medians = block_medians(steps, b, series, plan);
        if (medians.size() > 0) blocks.push_back({b, medians, Eigen::VectorXd::Ones(medians.rows())});
    }
    std::vector<Effect> all;
    if (blocks.size() < 2) return all;
    for (const Contrast& contrast : contrasts(plan)) {
        Effect& effect = all.emplace_back(effect_of(contrast, "median step", series.rank));
        effect.percent = percent_of(pooled(blocks, contrast.weights, 0), pooled(blocks, only_quiet(plan), 0));
        effect.p = effect.percent.p_value();
        effect.steps = steps_under(contrast, *series.overlaps, block, plan);
    }
    return all;
}

void adjust(std::vector<Effect>& effects)
{
    std::map<int, std::vector<std::size_t>> families;
    for (std::size_t i = 0; i < effects.size(); ++i) families[effects[i].rank].push_back(i);
    for (const auto& [rank, members] : families) {
        std::vector<double> p;
        for (const std::size_t i : members) p.push_back(effects[i].p);
        const std::vector<double> adjusted = holm(p);
        for (std::size_t i = 0; i < members.size(); ++i) effects[members[i]].p_holm = adjusted[i];
    }
}

const Effect* find(const std::vector<Effect>& effects, const std::string& factor, const std::string& level, Kind kind,
                   const std::string& phase, int rank)
{
    for (const Effect& effect : effects)
        if (effect.factor == factor && effect.level == level && effect.kind == kind && effect.phase == phase &&
            effect.rank == rank)
            return &effect;
    return nullptr;
}

Kind judged_kind(const std::vector<Effect>& effects, const Effect& effect)
{
    const Effect* average = find(effects, effect.factor, effect.level, Kind::average, "step");
    return average == nullptr ? Kind::alone : Kind::average;
}

}  // namespace analysis
