// SPDX-License-Identifier: Apache-2.0
// Basis of response curves: effects of any contrast, of one run or of several together.
#pragma once

#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/random_effects.hpp"

#include <cstdint>
#include <vector>

namespace analysis {

struct CurveRules {
    double budget_percent = 1.0;
    double confidence = 0.95;
    Looks looks = Looks::none;  // see Rules::looks
    std::uint64_t seed = 1;     // seed of the random draws
};

// One part of a run, analysed separately. A run consists of its first part and the parts added to it.
struct PartOfCurve {
    const DesignedRun* run = nullptr;
    const Analysis* analysis = nullptr;
};
using RunOfCurve = std::vector<PartOfCurve>;

// Weights of the treatments in each part, for the parts of all runs in order.
using Weights = std::vector<Eigen::VectorXd>;

// The fit of each part of each run.
class Basis {
 public:
    Basis(const std::vector<RunOfCurve>& runs, const CurveRules& rules);

    const CurveRules& rules() const { return rules_; }
    Mean effect(const Weights& weights) const { return together(weights, Way::estimated).mean; }
    // Upper bound of the effect over all assumptions: see Effect::at_worst.
    double highest(const Weights& weights) const { return highest(weights, Way::at_worst); }
    // Upper bound with all accidents, and with carry-over only if it counts: see Effect::whole.
    double highest_with_accidents(const Weights& weights) const { return highest(weights, Way::whole); }
    Interval interval(const Mean& percent) const { return percent.interval(rules_.confidence); }

    // Influence of each block (of each run, if there are several) on the effect, times their number.
    Eigen::VectorXd influence(const Weights& weights) const
    {
        return runs_.size() == 1 ? influence_of_blocks(weights) : influence_of_runs(weights);
    }

 private:
    enum class Way { estimated, at_worst, whole };
    struct OfPart {
        Fit fitted;
        StepsOf steps;
    };

    static OfPart of_part(const DesignedRun& run, const Analysis& analysis);
    static Mean effect_of(const OfPart& part, const Eigen::VectorXd& weights, Way way);
    TakenTogether together(const Weights& weights, Way way) const;
    double highest(const Weights& weights, Way way) const;
    Eigen::VectorXd influence_of_blocks(const Weights& weights) const;
    Eigen::VectorXd influence_of_runs(const Weights& weights) const;

    CurveRules rules_;
    std::vector<std::vector<OfPart>> runs_;
    std::vector<std::vector<double>> weights_;  // [run][part]
};

}  // namespace analysis
