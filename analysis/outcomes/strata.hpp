// What trials of soft errors draw from: a row of trials.csv names a stratum, by location and bits. Strata may overlap.
#pragma once

#include "analysis/outcomes/classes.hpp"

#include <vector>

namespace analysis {

// Gives trials of kind trial their weight: for how many bits of their group's strata each stands.
void weigh(std::vector<ClassedTrial>& trials);

// Bits of the state at a moment that these trials may flip, those of strata within others once.
double bits_of(const std::vector<const ClassedTrial*>& trials);

}  // namespace analysis
