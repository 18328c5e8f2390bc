// SPDX-License-Identifier: Apache-2.0
// Joins a training with its noise: finds for each node the noise process that reads the same clock.
#pragma once

#include "analysis/input/designed_run.hpp"
#include "analysis/input/noise_archive.hpp"
#include "analysis/input/training.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct Joined {
    DesignedRun run;
    std::vector<std::string> promises_broken;  // noise missing on a node, or not on as assigned: reasons for distrust
    std::vector<std::string> notes;            // remarks for the report, no reasons for distrust
};

// Joins by the identity of clocks, or, with a stated offset (training's clock - noise's clock), in spite of different
// identities. Throws Error if no rank shares a clock with any noise process, or if noise processes followed different
// plans, or noise that is always on or always off. Ranks on nodes without noise are left out of the run and reported in
// promises_broken.
Joined join(const Training& training, const std::vector<Noise>& noise, std::optional<std::int64_t> clock_offset_ns);

// The same for noise that may be always on or off: run.plan stays empty.
Joined join_without_plan(const Training& training, const std::vector<Noise>& noise,
                         std::optional<std::int64_t> clock_offset_ns);

}  // namespace analysis
