// SPDX-License-Identifier: Apache-2.0
// Reads the archive of a training that numbers its steps: phases of every rank, and what its gradient buckets say about
// who waited for whom.
#pragma once

#include "analysis/input/training.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <optional>

namespace analysis {

// Steps are the regions `step` that say their number; none if there is no such step. Reads all events once. Throws
// Error for an unsound archive, and for one with a step that is there twice.
std::optional<Training> read_numbered_steps(otf2::Reader& reader);

// Appends the clock and the host of the next rank, whose steps that location holds.
void add_place(Training& training, const otf2::Archive& archive, std::uint32_t location);

}  // namespace analysis
