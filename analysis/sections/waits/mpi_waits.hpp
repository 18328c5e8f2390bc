// SPDX-License-Identifier: Apache-2.0
// MPI waiting in the training's archive: wait states by step, POP's efficiencies, and the critical path.
#pragma once

#include "analysis/input/steps.hpp"
#include "base/columns/long_column.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/wait_states.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

struct PatternWaits {
    const replay::WaitState* state = nullptr;
    double seconds = 0.0;                 // sum over all ranks, inside and outside of steps
    double percent = 0.0;                 // share of the time of all ranks
    base::LongColumn<double> ms_of_step;  // [step], mean over ranks
};

// A region on a rank, over all its threads.
struct PathPart {
    std::string region;
    std::int64_t rank = 0;
    double seconds = 0.0;       // seconds on the critical path
    double imbalance_s = 0.0;   // time beyond the region's mean over the ranks
    double delay_cost_s = 0.0;  // time that other ranks waited because of this region
    double indirect_s = 0.0;    // part of delay_cost_s that waiting ranks passed on to others
};

struct MpiWaits {
    std::vector<PatternWaits> patterns;                        // wait states that occurred
    std::vector<std::pair<std::string, double>> efficiencies;  // with the names in trace-waits' pop.csv
    // In order of falling seconds; empty if no message links the ranks.
    std::vector<PathPart> path;
};

// Reads all events once more. None if the archive has no MPI calls. step_region: the chosen region for an archive whose
// steps have no numbers; may be empty. Throws Error.
std::optional<MpiWaits> read_mpi_waits(otf2::Reader& reader, const StepTable& steps, const std::string& step_region);

}  // namespace analysis
