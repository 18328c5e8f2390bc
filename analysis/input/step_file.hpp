// SPDX-License-Identifier: Apache-2.0
// steps.csv: a row for each step of each rank, as ddl-train, trace-steps or anybody's own program writes it.
#pragma once

#include "analysis/input/steps.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct StepFile {
    StepTable steps;                // that every rank did
    std::vector<std::string> host;  // [rank]: where it ran; empty if the file does not say
};

// Columns rank, step, begin_ns, end_ns; if wanted one `<phase>_ns` a phase, and host. What phases leave of a step is
// its phase `other`. Throws Error with line and column for a step that is there twice, that ends before it begins, or
// is shorter than its phases, and for a rank on two hosts.
StepFile read_step_file(const std::filesystem::path& file);

}  // namespace analysis
