// SPDX-License-Identifier: Apache-2.0
// Harvest: the work that the neighbour got done, and the cost of both.
#pragma once

#include "analysis/sections/harvest/harvest.hpp"
#include "analysis/sections/section.hpp"

#include <string>
#include <vector>

namespace analysis {

// Joins the harvests of several runs, or of the parts of a run: [run][part].
void add_harvest_of_all(Report& all, const std::vector<std::vector<const Report*>>& runs);

// A sentence for each noise of which an empty node's is known, and one for each setting that was tried.
std::vector<std::string> harvest_sentences(const Report& report);

// Core hours and money of all noises in a sentence; empty where no price was given.
std::string worth_sentence(const Report& report);

}  // namespace analysis
