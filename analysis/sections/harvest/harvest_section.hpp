// What the neighbour got done, and what both cost.
#pragma once

#include "analysis/sections/harvest/harvest.hpp"
#include "analysis/sections/section.hpp"

#include <string>
#include <vector>

namespace analysis {

// Of several runs, or of a run in parts, whose reports have theirs: [run][part].
void add_harvest_of_all(Report& all, const std::vector<std::vector<const Report*>>& runs);

// A sentence for each noise of which an empty node's is known, and one for each setting that was tried.
std::vector<std::string> harvest_sentences(const Report& report);

}  // namespace analysis
