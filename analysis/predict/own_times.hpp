// SPDX-License-Identifier: Apache-2.0
// Reads from a measured training when each rank had finished its own work, under each treatment.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/input/join.hpp"
#include "analysis/predict/projection.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct TreatedTimes {
    std::string treatment;  // "quiet", or the noise that was on alone
    OwnTimes times;
    std::vector<int> block;  // [step]
};

struct MeasuredTimes {
    std::vector<TreatedTimes> treatments;  // quiet first
    int ranks = 0;
    int nodes = 0;
    int ranks_per_node = 0;  // on the node with the most ranks
    std::vector<std::string> notes;
};

// Own work lasts until the last bucket was ready; in a training without buckets it is the time of a step without
// waiting for others (phase wait_exchange, MPI's calls). A run with noise gives the steps wholly under one treatment; a
// run without noise gives all steps after the warm-up, divided into twenty blocks. Treatments with fewer than a hundred
// steps are left out, with a note. Throws Error if the run does not record how long ranks waited, if noise was not on
// every node, and if quiet is left out.
MeasuredTimes own_times(const Training& training, const std::optional<Joined>& joined, const ExposureRules& rules);

}  // namespace analysis
