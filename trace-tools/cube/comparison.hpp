// SPDX-License-Identifier: Apache-2.0
// Two profiles beside each other: call paths matched by the names of their regions, locations by rank and thread name.
#pragma once

#include "trace-tools/cube/cube.hpp"

#include <string>

namespace cube {

struct InBoth {
    std::size_t both = 0;
    std::size_t first = 0;   // only in it
    std::size_t second = 0;  // only in it
};

// Call paths, but for artificial roots.
InBoth call_paths_in_both(const CubeProfile& first, const CubeProfile& second);

// Metrics of a quiet and a noisy run: "quiet_...", "noisy_..." and, where values add up, "difference_..." (noisy
// - quiet). What is in one run only is kept. With `derived` also "slowdown", noisy time / quiet time, which Cube
// computes again for every selection.
CubeProfile compared(CubeProfile quiet, CubeProfile noisy, bool derived);

// How far two values that should be one are apart, relative to the larger one.
struct Apart {
    double most = 0.0;
    std::string where;  // "region on location"
};

// Agreement of two profiles of one run.
struct Agreement {
    InBoth call_paths;
    InBoth regions;  // that were visited
    InBoth locations;
    Apart visits;  // by region and location; and by call path, if both have the same ones
    Apart time;    // the same, of exclusive time, but for one tick of the clock a visit, and a visit of those inside
};

// tick_s: of the clock that both were measured by. Throws Error if one has no visits or no time.
Agreement agreement(const CubeProfile& first, const CubeProfile& second, double tick_s);

}  // namespace cube
