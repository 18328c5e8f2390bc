// SPDX-License-Identifier: Apache-2.0
// Makes the report on designed runs from their archives.
#pragma once

#include "analysis/cli/run_files.hpp"
#include "analysis/cli/settings.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// Makes the report in `out`, which must not exist yet. Several runs, or several parts of one run, give one report. The
// archives are read in a child process, so that a bad archive cannot crash this one. Returns the exit code.
int designed_report(const std::vector<RunParts>& runs, const std::filesystem::path& out, const Settings& settings);

}  // namespace analysis
