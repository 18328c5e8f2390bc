// The command that measures once more.
#pragma once

#include "analysis/report/report.hpp"

#include <string>

namespace analysis {

// Makes such a run anew, so long, into another directory: as Report::again says, else from the recorded command lines.
// Empty if there are none.
std::string command_for(const Report& report, double minutes);

}  // namespace analysis
