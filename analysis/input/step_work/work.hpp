// SPDX-License-Identifier: Apache-2.0
// The parts of each rank's steps: own work, by where it was done, and time spent with other ranks.
#pragma once

#include "analysis/input/step_work/long_table.hpp"

#include <Eigen/Dense>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace analysis {

// Parts of a rank's step. They add up to it.
enum class Part : std::size_t {
    own,         // work of this rank between exchanges and inside their phase, without input and checkpoint
    input,       // load, to_device
    checkpoint,  // writing a checkpoint
    waiting,     // time in exchanges beyond `transfer`: waiting for others
    transfer,    // shortest time that any rank spent in the same exchange, summed over the exchanges of the step
    rest         // controls, and all other time
};
inline constexpr std::size_t part_count = 6;
inline constexpr std::array<const char*, part_count> part_names{"own work", "input",    "checkpoint",
                                                                "waiting",  "transfer", "rest"};

constexpr Eigen::Index column(Part part)
{
    return static_cast<Eigen::Index>(part);
}

struct RankWork {
    LongTable parts_ms;       // steps x parts
    LongTable own_ms;         // steps x Work::regions; a row adds up to own work, input and checkpoint
    double cpu_share = -1.0;  // CPU time of the process divided by elapsed time; negative if the archive does not say
};

struct Work {
    // Where own work was done: phases, or in an archive without phases regions of the program. Time outside of those is
    // named by the region that follows: "before MPI_Allreduce".
    std::vector<std::string> regions;
    std::vector<RankWork> ranks;  // [rank], as in the step table; empty if nothing is known

    bool known() const { return !ranks.empty(); }
};

// The part to which own work in a phase belongs.
Part part_of_phase(const std::string& phase);

}  // namespace analysis
