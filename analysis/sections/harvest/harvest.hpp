// SPDX-License-Identifier: Apache-2.0
// Harvest of noise beside the training, against an empty node and against itself without a limit.
#pragma once

#include "analysis/conclude/verdict.hpp"
#include "analysis/input/harvest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// A ratio of two speeds, in percent.
struct Share {
    double percent = 0.0;
    Interval interval;
};

struct Harvested {
    std::string factor;
    std::string level;
    std::string stressor;
    bool bytes = false;
    double per_s = 0.0;                  // mean over its slots
    std::optional<Share> of_empty_node;  // if noise on an empty node is known, at this factor and level
    std::optional<Share> of_unlimited;   // of a level that is a setting: of the level without it
};

// The slot is the unit: the ratio of the mean speeds, its interval by the delta method on its logarithm, from Student's
// t with one degree of freedom less than the smaller number of slots. Throws UsageError where the empty node's noise
// had another number of CPUs.
std::vector<Harvested> harvested(const Harvests& beside, const std::optional<Harvests>& empty_node, double confidence);

// Replaces the advice by what was measured, for factors that have a setting as a level.
void tell_tried_settings(Verdict& verdict, const std::vector<Harvested>& harvest);

}  // namespace analysis
