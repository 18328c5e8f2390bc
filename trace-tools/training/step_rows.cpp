// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/training/step_rows.hpp"

#include <string>
#include <vector>

namespace training {

namespace {

std::vector<std::string> columns()
{
    std::vector<std::string> names{"rank", "step", "begin_ns", "end_ns"};
    for (const Phase phase : phases) names.push_back(text(phase) + "_ns");
    return names;
}

}  // namespace

StepRows::StepRows(const std::filesystem::path& file, base::CsvWriter::Appear appear) : file_{file, columns(), appear}
{
}

void StepRows::add(int rank, const StepTimes& times)
{
    std::vector<std::string> cells{std::to_string(rank), std::to_string(times.step), std::to_string(times.begin_ns),
                                   std::to_string(times.end_ns)};
    for (const std::int64_t ns : times.phase_ns) cells.push_back(std::to_string(ns));
    file_.write(cells);
}

}  // namespace training
