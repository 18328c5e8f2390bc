// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/response/basis.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace analysis {

Basis::Basis(const std::vector<RunOfCurve>& runs, const CurveRules& rules) : rules_{rules}
{
    for (const RunOfCurve& parts : runs) {
        std::vector<OfPart>& of_run = runs_.emplace_back();
        std::vector<double>& weights = weights_.emplace_back();
        for (const PartOfCurve& part : parts) {
            of_run.push_back(of_part(*part.run, *part.analysis));
            weights.push_back(part.analysis->blocks_s);
        }
    }
}

double Basis::highest(const Weights& weights, Way way) const
{
    return std::max(interval(effect(weights)).high, interval(together(weights, way).mean).high);
}

Basis::OfPart Basis::of_part(const DesignedRun& run, const Analysis& analysis)
{
    const Series job = job_series(run, analysis, measures_of(run.steps).only(1), {"step"});
    StepsOf steps = steps_of(run, analysis);
    Fit fitted = fit(job, steps);
    return {std::move(fitted), std::move(steps)};
}

Mean Basis::effect_of(const OfPart& part, const Eigen::VectorXd& weights, Way way)
{
    if (way == Way::at_worst) return percent_at_worst(part.fitted, weights);
    if (way == Way::whole) return whole_percent(part.fitted, weights, part.steps);
    return estimated_percent(part.fitted, weights, 0, part.steps);
}

TakenTogether Basis::together(const Weights& weights, Way way) const
{
    std::vector<std::vector<Mean>> effects;
    auto of_part = weights.begin();
    for (const std::vector<OfPart>& parts : runs_) {
        effects.emplace_back();
        for (const OfPart& part : parts) {
            effects.back().push_back(effect_of(part, *of_part++, way));
            effects.back().back().looks = rules_.looks;
        }
    }
    return take_together(effects, weights_);
}

// Influences of blocks, scaled by each part's share in the mean so that their squares give the variance of the mean.
Eigen::VectorXd Basis::influence_of_blocks(const Weights& weights) const
{
    const auto blocks_of = [](const OfPart& part) { return static_cast<double>(part.fitted.blocks.size()); };
    double all_blocks = 0.0;
    for (const OfPart& part : runs_.front()) all_blocks += blocks_of(part);
    double all_weights = 0.0;
    for (const double weight : weights_.front()) all_weights += weight;
    const auto scale = [](double blocks) { return blocks * (blocks - 1.0); };
    Eigen::VectorXd all(0);
    for (std::size_t p = 0; p < runs_.front().size(); ++p) {
        const OfPart& part = runs_.front()[p];
        const double share = weights_.front()[p] / all_weights;
        const Eigen::VectorXd own =
            percent_influence(part.fitted, combination(part.fitted, weights[p], part.steps.lasting), 0,
                              accidents_count(weights[p], part.steps.long_steps));
        all.conservativeResize(all.size() + own.size());
        all.tail(own.size()) = own * (share * std::sqrt(scale(all_blocks) / scale(blocks_of(part))));
    }
    return all;
}

// Influences of runs, scaled so that their squares give Hartung and Knapp's variance.
Eigen::VectorXd Basis::influence_of_runs(const Weights& weights) const
{
    const TakenTogether effect = together(weights, Way::estimated);
    Eigen::VectorXd all(static_cast<Eigen::Index>(effect.runs.size()));
    for (std::size_t r = 0; r < effect.runs.size(); ++r)
        all[static_cast<Eigen::Index>(r)] =
            std::sqrt(static_cast<double>(effect.runs.size()) * effect.between->weights[r]) *
            (effect.runs[r].value - effect.mean.value);
    return all;
}

}  // namespace analysis
