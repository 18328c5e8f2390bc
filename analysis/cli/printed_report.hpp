// SPDX-License-Identifier: Apache-2.0
// Prints a report in the format of --format.
#pragma once

#include "analysis/cli/settings.hpp"

#include <filesystem>

namespace analysis {

// Prints the report in this folder, from the file that was written with it.
void print_report(const std::filesystem::path& out, const Settings& settings);

// The same for a report made earlier. Throws UsageError if there is no file of that format.
void print_again(const std::filesystem::path& out, const Settings& settings);

}  // namespace analysis
