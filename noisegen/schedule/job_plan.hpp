// SPDX-License-Identifier: Apache-2.0
// DIR/noise/plan.json: what all noise processes of a run agree on, so that they change slots together without MPI.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace noisegen {

struct JobPlan {
    std::string schedule;
    std::uint64_t seed = 0;
    base::Nanoseconds duration{};
    base::Nanoseconds slot{};  // where all slots have one length; 0 for others
    std::int64_t start_realtime_ns = 0;
    bool measured = true;  // the slot, for slot=auto, so that processes may propose other lengths; not in the file
};

// The first process creates `path`; all others adopt it (slot length and start time included).
// Throws UsageError if that plan is for another schedule, seed or duration, or is over already; Error if it cannot be
// read, or is none that a process of this job can have made: over a minute ahead, slots under 200 ms or over an hour.
JobPlan agree(const std::filesystem::path& path, const JobPlan& proposal);

}  // namespace noisegen
