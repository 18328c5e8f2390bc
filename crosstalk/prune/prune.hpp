// SPDX-License-Identifier: Apache-2.0
// Removes from finished runs what their reports do not need: archives, data that a training made for itself, logs.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

struct PruneRules {
    std::optional<base::Nanoseconds> older_than;  // only runs whose last record is that old
    bool checkpoints = false;                     // those of ddl-train go, too
};

struct Loss {
    std::string path;  // in the run
    std::uint64_t bytes = 0;
    std::string what;  // what it is, and what is gone with it
};

// A run, or a part that was added to one.
struct PrunableRun {
    std::filesystem::path directory;
    std::string kept_because;  // nothing goes; empty: what is in `losses` does
    std::vector<Loss> losses;
    std::uint64_t bytes = 0;   // that the run has now
    bool makes_table = false;  // train/steps.csv is made of the archive before that goes
    bool can_analyse = false;  // interference analyse works afterwards
};

// The runs in a directory: itself with its parts, those of a set, or those of a campaign that count. Throws UsageError
// where there is no run, and where it belongs to another user.
std::vector<PrunableRun> prunable_runs(const std::filesystem::path& directory, const PruneRules& rules);

// Removes the losses. Writes pruned.json first, and takes each folder out of the run by a rename: a run that is cut off
// in the middle is whole or pruned, and the next call removes the rest. Throws Error, std::system_error.
void prune(const PrunableRun& run);

}  // namespace crosstalk
