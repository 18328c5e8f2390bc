// SPDX-License-Identifier: Apache-2.0
// A training beside undesigned noise.
#pragma once

#include "analysis/input/designed_run.hpp"
#include "analysis/input/observed/noise_log.hpp"
#include "analysis/input/training.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct ObservedRun {
    DesignedRun run;  // its slots are the spans between changes of what ran on any of the training's hosts
    std::vector<std::string> notes;
    std::string no_answer;  // why there is nothing to be compared; empty if there is. Then `run` is empty
};

// Noise counts for the whole job: a rank that waits for a noisy host is under the same treatment. Times are brought to
// the clock of each rank's node by identity, by what the archives say of real time, or by the stated offset (training's
// clock - noise's clock). Throws Error where that is not possible.
ObservedRun observed_run(const Training& training, const std::vector<NoiseLog>& logs,
                         std::optional<std::int64_t> clock_offset_ns);

}  // namespace analysis
