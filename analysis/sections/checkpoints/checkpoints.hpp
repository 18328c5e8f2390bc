// SPDX-License-Identifier: Apache-2.0
// The cost of checkpoints that noise asks for: to the steps that write them, and to the steps between.
#pragma once

#include "analysis/estimate/analyse.hpp"
#include "analysis/input/designed_run.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace analysis {

struct CheckpointCost {
    std::string factor;
    std::string level;            // "mode=async"
    std::size_t checkpoints = 0;  // steps with phase checkpoint in its slots
    double checkpoint_ms = 0.0;   // mean of the phase in these, on the rank on which it takes longest
    std::size_t between = 0;      // other whole steps in its slots
    double between_s = 0.0;       // time that these take in a slot, mean over slots
    Mean percent{};               // how much longer these are than quiet steps, in percent of those; over blocks
};

// One for each factor and level of job.checkpoint that ran alone. With several ranks, the step after a checkpoint does
// not count as one between checkpoints either: ranks that write nothing wait in it. Empty for a training that marks no
// phase checkpoint, and with fewer than two blocks.
std::vector<CheckpointCost> checkpoint_costs(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
