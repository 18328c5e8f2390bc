// The tidy tables of a report (columns: docs/formats.md).
#pragma once

#include "analysis/report/report.hpp"

#include <filesystem>

namespace analysis {

// factor,level,phase,rank,kind,effect_percent,low_percent,high_percent,p_holm,steps, then p,blocks
void write_effects(const std::filesystem::path& file, const Report& report);

// rank,step,block,used,reason, then one column per factor, 0 to 1
void write_exposure(const std::filesystem::path& file, const Report& report);

// One row a factor and level: who and where the run was, the verdict, its effect, forecast, cause and setting
void write_verdicts(const std::filesystem::path& file, const Report& report);

// As effects.csv, of what is no phase: the split of the step by its buckets, when each rank was ready, the median step
void write_measures(const std::filesystem::path& file, const Report& report);

// factor,level,percent_of_steps,percent_of_time,p
void write_outliers(const std::filesystem::path& file, const Report& report);

// What each noise process says it did: host,factor,level,stressor,slots,bytes_per_s,operations_per_s
void write_factor_levels(const std::filesystem::path& file, const Report& report);

}  // namespace analysis
