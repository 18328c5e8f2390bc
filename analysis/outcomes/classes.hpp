// SPDX-License-Identifier: Apache-2.0
// Outcomes of trials: each has one class, and each class a share with an interval.
#pragma once

#include "analysis/outcomes/classed_trial.hpp"
#include "analysis/outcomes/trial_run.hpp"
#include "base/statistics.hpp"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace analysis {

// From the worst to none at all.
inline constexpr std::array<const char*, 7> outcome_classes{
    base::outcome_class::crashed,   base::outcome_class::collapsed, base::outcome_class::degraded,
    base::outcome_class::recovered, base::outcome_class::latent,    base::outcome_class::tolerated,
    base::outcome_class::masked};

// crashed, collapsed or degraded.
bool is_ruined(const std::string& outcome_class);

// Nulls and positives too, in order. Throws Error if no band is that of a trial's last step.
std::vector<ClassedTrial> classed(const TrialRun& run, const Bands& bands);

enum class ProportionInterval { wilson, clopper_pearson };

// A share of trials with a class, in per cent.
struct ClassShare {
    std::string strategy;
    std::string target;
    std::string location;    // "all", or a tensor
    std::string bit;         // "all", or one
    std::int64_t flips = 0;  // of a trial; 0: any number
    std::string what;
    std::int64_t trials = 0;
    std::int64_t count = 0;
    bool is_weighted = false;  // trials have unequal weights, so `percent` is not `count` / `trials`
    double percent = 0.0;
    base::Interval percent_interval = {};
};

// Those of kind trial that no guard repairs or rolls back: what a flip does alone. All, if each has such a guard.
std::vector<const ClassedTrial*> left_to_themselves(const std::vector<ClassedTrial>& trials);

// Shares among trials left to themselves: for each strategy and target over all, by location, by bit, by both, and by
// number of flips if there are several. Each bit counts as much, however many trials the strata have (what rows of
// trials.csv draw from), and however many of them hold it.
std::vector<ClassShare> class_shares(const std::vector<ClassedTrial>& trials, ProportionInterval kind);

// The share among these that are so.
ClassShare share_of(const std::vector<WeightedTrial>& trials, const std::function<bool(const ClassedTrial&)>& is_so,
                    ProportionInterval kind);

// Why these trials prove nothing; empty if they may be trusted: null trials must be like no alteration to the bit,
// positive ones must collapse, and the training itself must lie in the band.
std::vector<std::string> why_not_trustworthy(const std::vector<ClassedTrial>& trials, const Bands& bands);

}  // namespace analysis
