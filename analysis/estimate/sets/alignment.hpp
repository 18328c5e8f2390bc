// SPDX-License-Identifier: Apache-2.0
// Which steps of different runs are the same step.
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

// Places in `a` and `b`, ascending in both, with equal values: a longest such list, after Myers (1986), "An O(ND)
// difference algorithm and its variations". Empty where more than `most_edits` values would have to be left out.
base::LongColumn<PlaceInBoth> longest_common(const base::LongColumn<std::uint64_t>& a,
                                             const base::LongColumn<std::uint64_t>& b, std::size_t most_edits);

// Where every run numbers its steps, by number: "their numbers". Else runs that count theirs get the numbers of the
// first of them whose steps entered the same regions in the same order, so that missing steps and other lengths do no
// harm: "the regions that they enter". Where too many differ, as in a program that does other things in every step,
// their counts stay: "their place in the run". Steps that the first run lacks are taken out.
std::string align(std::vector<RunSteps>& quiet, std::vector<RunSteps>& noisy);

}  // namespace analysis
