// The tidy tables of a report (columns: docs/formats.md).
#pragma once

#include "analysis/sections/section.hpp"

namespace analysis {

// verdicts.csv and those of all sections, in the order in which the page links to them.
std::vector<Table> tables(const Report& report);

}  // namespace analysis
