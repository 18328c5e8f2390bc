// From the archives of a designed run to its report.
#pragma once

#include "analysis/cli/settings.hpp"

#include <filesystem>
#include <vector>

namespace analysis {

// Reads the archives in a child process, which they cannot harm, and writes the report into `out`, which must not be
// there yet. Returns the exit code.
int designed_report(const std::filesystem::path& train, const std::vector<std::filesystem::path>& noises,
                    const std::filesystem::path& out, const Settings& settings);

}  // namespace analysis
