// The words that may stand first on the command line, and their options: noisegen calibrate, limits, probe.
#pragma once

#include "base/manual.hpp"

#include <optional>
#include <vector>

namespace noisegen {

// The exit code, or none if the first argument is an option, so that a schedule is to be run. Throws UsageError for a
// word that is no command.
std::optional<int> run_command(int argc, char** argv);

std::vector<base::Manual> command_manuals();

}  // namespace noisegen
