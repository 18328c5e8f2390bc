// SPDX-License-Identifier: Apache-2.0
// When each rank of a measured training was ready with its own work, under each treatment.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/input/join.hpp"
#include "analysis/predict/projection.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct TreatedTimes {
    std::string treatment;  // "quiet", or the noise that was alone
    OwnTimes times;
    std::vector<int> block;  // by step
};

struct MeasuredTimes {
    std::vector<TreatedTimes> treatments;  // quiet first
    int ranks = 0;
    int nodes = 0;
    int ranks_per_node = 0;  // the most
    std::vector<std::string> notes;
};

// Own work lasts until the last bucket was ready; in a training that shows no buckets it is what of a step is no
// waiting for others (phase wait_exchange, MPI's calls). Of a run with noise steps wholly under one treatment; without
// all steps after the warm-up, in twenty blocks. Treatments with fewer than a hundred steps are left out, with a note.
// Throws Error where nothing says how long ranks waited, where noise was not on every node, and if quiet is left out.
MeasuredTimes own_times(const Training& training, const std::optional<Joined>& joined, const ExposureRules& rules);

}  // namespace analysis
