// The verdict on the terminal: a few lines and a table.
#pragma once

#include "analysis/results/report.hpp"

#include <ostream>

namespace analysis {

void print(std::ostream& out, const Report& report);

}  // namespace analysis
