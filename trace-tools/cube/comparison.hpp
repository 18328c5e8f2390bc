// SPDX-License-Identifier: Apache-2.0
// Comparison of two profiles: call paths are matched by the names of their regions, locations by rank and thread name.
#pragma once

#include "trace-tools/cube/cube.hpp"

#include <string>

namespace cube {

struct InBoth {
    std::size_t both = 0;
    std::size_t first = 0;   // only in the first profile
    std::size_t second = 0;  // only in the second profile
};

// Counts call paths, except artificial roots.
InBoth call_paths_in_both(const CubeProfile& first, const CubeProfile& second);

// Combines the metrics of a quiet and a noisy run: "quiet_...", "noisy_..." and, for additive values, "difference_..."
// (noisy - quiet). Call paths and locations that are in only one run are kept. `derived` adds "slowdown", noisy time /
// quiet time, which Cube recomputes for every selection.
CubeProfile compared(CubeProfile quiet, CubeProfile noisy, bool derived);

// Largest difference between values that should be equal, relative to the larger one.
struct Apart {
    double most = 0.0;
    std::string where;  // where it occurs: "region on location"
};

// Agreement of two profiles of the same run.
struct Agreement {
    InBoth call_paths;
    InBoth regions;  // visited regions
    InBoth locations;
    Apart visits{};  // by region and location; also by call path if both have the same call paths
    Apart time{};    // by exclusive time, allowing one clock tick for each visit and for each visit directly inside
};

// `tick_s`: resolution of the clock of both profiles. Throws Error if one has no visits or no time.
Agreement agreement(const CubeProfile& first, const CubeProfile& second, double tick_s);

}  // namespace cube
