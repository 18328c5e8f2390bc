// Which ranks made the others wait, and by what: delay costs as sentences for the terminal.
#pragma once

#include "trace-tools/replay/mpi_replay.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace otf2 {

struct Culprit {
    std::string name;                                     // "rank 1", or of a location without a rank its name
    double seconds = 0.0;                                 // that others waited because of it
    std::vector<std::pair<std::string, double>> regions;  // in which it was late; most seconds first
};

// Most seconds first. `ranks`: by location. Time outside of all regions is "work outside of regions".
std::vector<Culprit> culprits(const Archive& archive, const std::vector<std::int64_t>& ranks, const DelayCosts& delay);

// Length of the run, and what all ranks spent in it: what seconds are percent of.
struct RunTime {
    double longest_s = 0.0;  // of a rank
    double all_s = 0.0;      // of all ranks
    std::size_t ranks = 0;
    // Of the time of all ranks but one.
    double percent_of_others(double seconds) const;
};
RunTime run_time(const MpiReplay& replay);

// Nothing where nobody waited. "rank 1 made the others wait 3.380 s (78 % of the run): work outside of regions", for
// those with the largest parts; then what has no known cause.
void print_culprits(std::ostream& out, const std::vector<Culprit>& culprits, const DelayCosts& unknown,
                    const RunTime& run);

}  // namespace otf2
