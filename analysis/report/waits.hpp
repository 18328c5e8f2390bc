// Waiting in MPI, noise by noise, and the critical path: what trace-waits and trace-path find in the training's
// archive.
#pragma once

#include "analysis/report/findings.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// None where the report has no waits.
std::vector<NoiseTable> wait_tables(const Report& report);

// Used steps that lie mostly under a treatment.
base::LongColumn<std::size_t> steps_under(const Report& report, std::size_t treatment);

// A row of a noise table that names a treatment, without cells yet.
NoiseTable::Row row_of(const Treatment& treatment);

// wait_states.csv, pop.csv and path.csv, the latter two as trace-waits and trace-path write them. Returns their names.
std::vector<std::string> wait_files(const Report& report);
void write_wait_tables(const std::filesystem::path& folder, const Report& report);

}  // namespace analysis
