// SPDX-License-Identifier: Apache-2.0
// Reads the archive of a training that numbers its steps: the phases of every rank, and from its gradient buckets which
// rank waited for which.
#pragma once

#include "analysis/input/training.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <optional>

namespace analysis {

// Steps are the regions `step` with a recorded number; none if there is no such step. Reads all events once. Throws
// Error for an unsound archive, and for a step number that occurs twice.
std::optional<Training> read_numbered_steps(otf2::Reader& reader);

// Appends the clock and the host of the next rank. location: where the steps of that rank are recorded.
void add_place(Training& training, const otf2::Archive& archive, std::uint32_t location);

}  // namespace analysis
