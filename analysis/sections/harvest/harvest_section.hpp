// SPDX-License-Identifier: Apache-2.0
// Harvest: the work that the neighbour got done, and the cost of training and neighbour.
#pragma once

#include "analysis/sections/harvest/harvest.hpp"
#include "analysis/sections/section.hpp"

#include <string>
#include <vector>

namespace analysis {

// Pools the harvests of several runs, or of the parts of a run: [run][part].
void add_harvest_of_all(Report& all, const std::vector<std::vector<const Report*>>& runs);

// A sentence for each noise whose harvest on an empty node is known, and one for each tried setting.
std::vector<std::string> harvest_sentences(const Report& report);

}  // namespace analysis
