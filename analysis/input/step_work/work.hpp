// SPDX-License-Identifier: Apache-2.0
// Composition of each rank's steps: its own work, by where it was done, and the time spent with other ranks.
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
    own,         // work of this rank that is none of the next two, between exchanges and inside their phase
    input,       // load, to_device
    checkpoint,  // writing one
    waiting,     // in exchanges, beyond the shortest time that any rank spent in the same one: waiting for others
    transfer,    // that shortest time, summed over the exchanges of the step
    rest         // controls, and what belongs to none of these
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
    LongTable own_ms;         // steps x Work::regions; they add up to own work, input and checkpoint
    double cpu_share = -1.0;  // CPU time of the process in its time; negative if the archive does not say
};

struct Work {
    // Where own work was done: phases; of an archive without them regions of the program, and of time outside of these
    // what it came before: "before MPI_Allreduce".
    std::vector<std::string> regions;
    std::vector<RankWork> ranks;  // [rank], as those of the steps; none where nothing is known

    bool known() const { return !ranks.empty(); }
};

// To what part own work in a phase belongs.
Part part_of_phase(const std::string& phase);

}  // namespace analysis
