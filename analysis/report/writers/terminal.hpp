// The verdict on the terminal: a few lines and a table.
#pragma once

#include "analysis/report/report.hpp"

#include <ostream>

namespace analysis {

void print(std::ostream& out, const Report& report);

}  // namespace analysis
