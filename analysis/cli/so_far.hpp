// SPDX-License-Identifier: Apache-2.0
// A one-line summary of a run in progress.
#pragma once

#include "analysis/cli/settings.hpp"
#include "analysis/input/run_so_far.hpp"

#include <string>

namespace analysis {

struct SoFar {
    std::string line;      // "60 s, 540 steps: memory.stream +10.2 % ± 4.1 (budget 1 %)"
    int blocks = 0;        // number of complete blocks
    bool decided = false;  // every noise has a verdict other than undecided, and the data so far can be trusted
};

// Makes the summary from the report's estimate of the data so far; with fewer than two complete blocks the line says
// that there is no interval yet. Times count from the first step. With Settings::looks, intervals are valid at every
// check, and nothing is decided before the tenth block.
SoFar so_far(const RunSoFar& run, const Settings& settings);

}  // namespace analysis
