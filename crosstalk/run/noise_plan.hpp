// SPDX-License-Identifier: Apache-2.0
// The plan that noisegen made for a run.
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace crosstalk {

struct NoisePlan {
    std::int64_t on_ns = 0;    // start of the first slot, CLOCK_MONOTONIC of this host
    base::Nanoseconds slot{};  // 0 if slots differ in length
};

// None while noisegen is still preparing.
std::optional<NoisePlan> noise_plan(const std::filesystem::path& run);

// The first block in the table of slots that noisegen --dry-run prints.
struct BlockOfSlots {
    std::size_t slots = 0;
    std::size_t quiet = 0;
    std::int64_t end_ns = 0;  // of its last slot
};
BlockOfSlots first_block(const std::string& slots);

// Length of two blocks of the schedule, which a report needs; 0 for a schedule without blocks. `slots`: the table
// printed by noisegen --dry-run, with slots of 1 s if slot=auto is not known yet.
base::Nanoseconds two_blocks(const std::string& schedule, const std::string& slots, base::Nanoseconds slot);

}  // namespace crosstalk
