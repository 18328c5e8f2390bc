// SPDX-License-Identifier: Apache-2.0
// A training and noise that ran with it without a design.
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
    DesignedRun run;  // its slots are the spans between changes of the noise on any of the training's hosts
    std::vector<std::string> notes;
    std::string no_answer;  // why there is nothing to compare, and `run` is empty; empty if there is something
};

// Makes the run. Noise counts for the whole job: a rank that waits for a noisy host is under the same treatment. Times
// are converted to the clock of each rank's node by its identity, by the archives' offsets from real time, or by the
// stated offset (training's clock - noise's clock). Throws Error if none of these is possible.
ObservedRun observed_run(const Training& training, const std::vector<NoiseLog>& logs,
                         std::optional<std::int64_t> clock_offset_ns);

}  // namespace analysis
