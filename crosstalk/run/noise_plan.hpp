// SPDX-License-Identifier: Apache-2.0
// The noise of a run, as far as noisegen has planned it.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace crosstalk {

struct NoisePlan {
    std::int64_t on_ns = 0;    // CLOCK_MONOTONIC of this host at the first slot's begin
    base::Nanoseconds slot{};  // 0 where slots are not of one length
};

// None as long as noisegen prepares.
std::optional<NoisePlan> noise_plan(const std::filesystem::path& run);

// A report needs two blocks of the schedule; `slots`: the table that noisegen --dry-run prints, with a slot of 1 s
// where slot=auto is not known yet. 0 for a schedule that has no blocks.
base::Nanoseconds two_blocks(const std::string& schedule, const std::string& slots, base::Nanoseconds slot);

}  // namespace crosstalk
