// effects.csv and exposure.csv: the tidy tables of a report (columns: DESIGN section 2).
#pragma once

#include "analysis/report/report.hpp"

#include <filesystem>

namespace analysis {

// factor,level,phase,rank,kind,effect_percent,low_percent,high_percent,p_holm,steps, then p,blocks
void write_effects(const std::filesystem::path& file, const Report& report);

// rank,step,block,used,reason, then one column per factor, 0 to 1
void write_exposure(const std::filesystem::path& file, const Report& report);

}  // namespace analysis
