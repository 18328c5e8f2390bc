// SPDX-License-Identifier: Apache-2.0
// MPI waiting in the training's archive: wait states by step, POP's efficiencies, the critical path.
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
    double seconds = 0.0;                 // of all ranks, outside of steps too
    double percent = 0.0;                 // of the time of all ranks
    base::LongColumn<double> ms_of_step;  // [step], mean over ranks
};

// A region on a rank: all its threads.
struct PathPart {
    std::string region;
    std::int64_t rank = 0;
    double seconds = 0.0;       // on the critical path
    double imbalance_s = 0.0;   // beyond the region's mean over the ranks
    double delay_cost_s = 0.0;  // that others waited because of it
    double indirect_s = 0.0;    // of that, passed on by others who waited
};

struct MpiWaits {
    std::vector<PatternWaits> patterns;                        // those that occurred
    std::vector<std::pair<std::string, double>> efficiencies;  // as pop.csv of trace-waits names them
    std::vector<PathPart> path;                                // most seconds first; empty: nothing joins the ranks
};

// None where the archive has no MPI calls. Reads all events once more. step_region: as it was chosen for an archive
// whose steps have no number; may be empty. Throws Error.
std::optional<MpiWaits> read_mpi_waits(otf2::Reader& reader, const StepTable& steps, const std::string& step_region);

}  // namespace analysis
