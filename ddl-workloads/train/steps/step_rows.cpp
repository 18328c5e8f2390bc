#include "ddl-workloads/train/steps/step_rows.hpp"

#include <string>
#include <vector>

namespace ddl {

namespace {

std::vector<std::string> columns()
{
    std::vector<std::string> names{"rank", "step", "begin_ns", "end_ns"};
    for (const Phase phase : phases) names.push_back(text(phase) + "_ns");
    return names;
}

}  // namespace

StepRows::StepRows(const std::filesystem::path& file) : file_{file, columns()} {}

void StepRows::add(int rank, const StepTimes& times)
{
    std::vector<std::string> cells{std::to_string(rank), std::to_string(times.step), std::to_string(times.begin_ns),
                                   std::to_string(times.end_ns)};
    for (const std::int64_t ns : times.phase_ns) cells.push_back(std::to_string(ns));
    file_.write(cells);
}

}  // namespace ddl
