// SPDX-License-Identifier: Apache-2.0
// DIR/noise/plan.json: the agreement of all noise processes of a run, so that they change slots together without MPI.
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
    base::Nanoseconds slot{};  // common length of all slots; 0 if they differ
    std::int64_t start_realtime_ns = 0;
    bool measured = true;  // slot was measured (slot=auto): proposals may differ; not in the file
};

// The first process creates `path`; all others adopt it (slot length and start time included). Throws UsageError if the
// plan in the file is for another schedule, seed or duration, or is already over. Throws Error if the file cannot be
// read or its plan is implausible: a start over a minute ahead, slots under 200 ms or over an hour.
JobPlan agree(const std::filesystem::path& path, const JobPlan& proposal);

}  // namespace noisegen
