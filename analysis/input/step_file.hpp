// SPDX-License-Identifier: Apache-2.0
// steps.csv: a row for each step of each rank, written by ddl-train, trace-steps or the user's own program.
#pragma once

#include "analysis/input/steps.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct StepFile {
    StepTable steps;                // steps that every rank did
    std::vector<std::string> host;  // [rank]: its host; empty if the file does not say
};

// Reads the columns rank, step, begin_ns, end_ns and, if present, one `<phase>_ns` per phase and host. Time of a step
// outside of its phases is its phase `other`. Throws Error with line and column for a repeated step, for one that ends
// before it begins or is shorter than its phases, and for a rank on two hosts.
StepFile read_step_file(const std::filesystem::path& file);

}  // namespace analysis
