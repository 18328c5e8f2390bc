// SPDX-License-Identifier: Apache-2.0
// Harvest: the work of noise that ran with the training, compared with an empty node and with the noise without a
// limit.
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
    double per_s = 0.0;                  // mean over the level's slots
    std::optional<Share> of_empty_node;  // percent of the harvest on an empty node; none if not measured there
    std::optional<Share> of_unlimited;   // for a level that sets a limit: percent of the harvest without it
};

// Compares mean speeds; the slot is the unit. The interval of a ratio is the delta method's on its logarithm, from
// Student's t with the smaller number of slots less one as degrees of freedom. Throws UsageError if the noise on the
// empty node had another number of CPUs.
std::vector<Harvested> harvested(const Harvests& beside, const std::optional<Harvests>& empty_node, double confidence);

// Replaces the advice by the measured settings, for factors that have settings as levels.
void tell_tried_settings(Verdict& verdict, const std::vector<Harvested>& harvest);

}  // namespace analysis
