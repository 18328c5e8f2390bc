// SPDX-License-Identifier: Apache-2.0
// Aligns the steps of different runs.
#pragma once

#include "analysis/input/run_steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

struct PlaceInBoth {
    std::size_t first = 0;
    std::size_t second = 0;
};

// A longest list of pairs of indices, ascending in `a` and in `b`, at which the values are equal, after Myers (1986),
// "An O(ND) difference algorithm and its variations". Empty where more than `most_edits` values would have to be left
// out.
base::LongColumn<PlaceInBoth> longest_common(const base::LongColumn<std::uint64_t>& a,
                                             const base::LongColumn<std::uint64_t>& b, std::size_t most_edits);

// Aligns the runs and returns by what. "their numbers": every run numbers its steps. "the regions that they enter":
// runs that only count their steps get the numbers of the first such run's steps that enter the same regions in the
// same order, so that missing steps and other lengths do no harm. "their place in the run": too many steps differ, as
// in a program that does other things in every step, so the counts stay. Steps that the first run lacks are removed.
std::string align(std::vector<RunSteps>& quiet, std::vector<RunSteps>& noisy);

}  // namespace analysis
