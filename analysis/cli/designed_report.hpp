// SPDX-License-Identifier: Apache-2.0
// From the archives of designed runs to their report.
#pragma once

#include "analysis/cli/run_files.hpp"
#include "analysis/cli/settings.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

// Reads the archives in a child process, which they cannot harm, and writes the report into `out`, which must not be
// there yet. Several runs, or several parts of one, give one report on all. Returns the exit code.
int designed_report(const std::vector<RunParts>& runs, const std::filesystem::path& out, const Settings& settings);

// Prints the report in `out` as --format asks for it. scope: what its intervals cover. print_text prints it for a
// terminal.
void show(const Report& report, const std::string& scope, const std::filesystem::path& out, const Settings& settings,
          const std::function<void()>& print_text);

}  // namespace analysis
