// SPDX-License-Identifier: Apache-2.0
// Populations that trials of soft errors draw from, and for how many bits each stands in a share.
//
// A row of trials.csv names a stratum, by target, location and bits. Strata may overlap.
#pragma once

#include "analysis/outcomes/classed_trial.hpp"

#include <functional>
#include <string>
#include <vector>

namespace analysis {

// The population of a trial. Shares are over one population, so weights hold within it alone.
using PopulationOf = std::function<std::string(const ClassedTrial&)>;

// Populations of the tables. `per_flips` sets numbers of flips apart.
std::string per_target(const ClassedTrial& one);
std::string per_flips(const ClassedTrial& one);
std::string per_step(const ClassedTrial& one);  // and number of flips
std::string together(const ClassedTrial& one);

// Weights of trials of kind trial. Within a population each bit counts as much, however many trials and strata hold it;
// among trials of a bit each condition (strategy, moment, length, rank, number of flips, guard that repairs or rolls
// back) counts as much. A guard that only reports is no condition.
std::vector<WeightedTrial> weighed(const std::vector<const ClassedTrial*>& trials, const PopulationOf& population_of);

// Bits of the state at a moment that these trials may flip, those of strata within others once.
double bits_of(const std::vector<const ClassedTrial*>& trials);

// Do both draw from the same bits?
bool draw_from_the_same(const std::vector<const ClassedTrial*>& some, const std::vector<const ClassedTrial*>& others);

}  // namespace analysis
