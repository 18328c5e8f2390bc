// SPDX-License-Identifier: Apache-2.0
// Makes the report on designed runs from their archives.
#pragma once

#include "analysis/cli/run_files.hpp"
#include "analysis/cli/settings.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

// Makes the report in `out`, which must not exist yet. Several runs, or several parts of one run, give one report. The
// archives are read in a child process, so that a bad archive cannot crash this one. Returns the exit code.
int designed_report(const std::vector<RunParts>& runs, const std::filesystem::path& out, const Settings& settings);

// Prints the report in `out` in the format of --format. scope: what the intervals cover. print_text prints the report
// for a terminal.
void show(const Report& report, const std::string& scope, const std::filesystem::path& out, const Settings& settings,
          const std::function<void()>& print_text);

}  // namespace analysis
