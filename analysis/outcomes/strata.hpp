// SPDX-License-Identifier: Apache-2.0
// Populations from which soft-error trials draw, and the number of bits that each trial represents in a share.
//
// A row of trials.csv names a stratum, by target, location and bits. Strata may overlap.
#pragma once

#include "analysis/outcomes/classed_trial.hpp"

#include <functional>
#include <string>
#include <vector>

namespace analysis {

// Names the population of a trial. Shares are over one population, so weights are valid only within it.
using PopulationOf = std::function<std::string(const ClassedTrial&)>;

// Populations of the tables. `per_flips` separates trials by their number of flips.
std::string per_target(const ClassedTrial& one);
std::string per_flips(const ClassedTrial& one);
std::string per_step(const ClassedTrial& one);  // separates by step and by number of flips
std::string together(const ClassedTrial& one);

// Weights of trials of kind trial. Within a population each bit has the same weight, however many trials and strata
// hold it. Among trials of a bit each condition has the same weight (strategy, moment, length, rank, number of flips,
// guard that repairs or rolls back). A guard that only reports is not a condition.
std::vector<WeightedTrial> weighed(const std::vector<const ClassedTrial*>& trials, const PopulationOf& population_of);

// Number of bits of the state at a moment that these trials may flip; bits of overlapping strata count once.
double bits_of(const std::vector<const ClassedTrial*>& trials);

// True if both sets of trials draw from the same bits.
bool draw_from_the_same(const std::vector<const ClassedTrial*>& some, const std::vector<const ClassedTrial*>& others);

}  // namespace analysis
