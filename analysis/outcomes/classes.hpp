// SPDX-License-Identifier: Apache-2.0
// Classes of outcomes of trials, and each class's share of the trials with an interval.
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

// From the most harmful class to harmless.
inline constexpr std::array<const char*, 7> outcome_classes{
    base::outcome_class::crashed,   base::outcome_class::collapsed, base::outcome_class::degraded,
    base::outcome_class::recovered, base::outcome_class::latent,    base::outcome_class::tolerated,
    base::outcome_class::masked};

// True for crashed, collapsed and degraded.
bool is_ruined(const std::string& outcome_class);

// Classes all trials, null and positive trials included, in order. Throws Error if no band is for a trial's last step.
std::vector<ClassedTrial> classed(const TrialRun& run, const Bands& bands);

enum class ProportionInterval { wilson, clopper_pearson };

// Share of the trials with a class, in percent.
struct ClassShare {
    std::string strategy;
    std::string target;
    std::string location;    // "all", or a tensor
    std::string bit;         // "all", or a bit
    std::int64_t flips = 0;  // flips per trial; 0: any number
    std::string what;
    std::int64_t trials = 0;
    std::int64_t count = 0;
    bool is_weighted = false;  // trials have unequal weights, so `percent` is not `count` / `trials`
    double percent = 0.0;
    base::Interval percent_interval = {};
};

// Trials of kind trial without a guard that repairs or rolls back, which show the effect of a flip alone. All trials,
// if each has such a guard.
std::vector<const ClassedTrial*> left_to_themselves(const std::vector<ClassedTrial>& trials);

// Shares among trials left to themselves, for each strategy and target: over all trials, by location, by bit, by both,
// and by number of flips if there are several. Each bit has the same weight, however many trials its strata have (rows
// of trials.csv name strata), and however many strata hold it.
std::vector<ClassShare> class_shares(const std::vector<ClassedTrial>& trials, ProportionInterval kind);

// Share of the trials for which is_so is true.
ClassShare share_of(const std::vector<WeightedTrial>& trials, const std::function<bool(const ClassedTrial&)>& is_so,
                    ProportionInterval kind);

// Why these trials prove nothing; empty if they can be trusted. Null trials must equal the unaltered training to the
// bit, positive trials must collapse, and the training itself must lie in the band.
std::vector<std::string> why_not_trustworthy(const std::vector<ClassedTrial>& trials, const Bands& bands);

}  // namespace analysis
