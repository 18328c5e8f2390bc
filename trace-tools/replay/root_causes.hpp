// SPDX-License-Identifier: Apache-2.0
// Root causes of waiting by rank: delay costs as sentences for the terminal.
#pragma once

#include "trace-tools/replay/mpi_replay.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace replay {

// A rank whose delays made other ranks wait.
struct RootCause {
    std::string name;                                     // "rank 1", or the name of a location without a rank
    double seconds = 0.0;                                 // waiting time that it caused
    std::vector<std::pair<std::string, double>> regions;  // regions of its delays, largest first
};

// Largest first. `ranks` is indexed by location. Time outside of all regions is called "work outside of regions".
std::vector<RootCause> root_causes(const otf2::Archive& archive, const std::vector<std::int64_t>& ranks,
                                   const DelayCosts& delay);

// Length of the run, and time of all ranks, to which percentages refer.
struct RunTime {
    double longest_s = 0.0;  // longest time of a rank
    double all_s = 0.0;      // sum over all ranks
    std::size_t ranks = 0;
    double percent(double seconds) const;  // share of all_s
};
RunTime run_time(const MpiReplay& replay);

// Prints lines such as "rank 1 made the others wait 3.380 s (39.10 % of all ranks' time): work outside of regions" for
// the largest costs, then the waiting without a known cause. Prints nothing if no rank waited.
void print_root_causes(std::ostream& out, const std::vector<RootCause>& causes, const DelayCosts& unknown,
                       const RunTime& run);

}  // namespace replay
