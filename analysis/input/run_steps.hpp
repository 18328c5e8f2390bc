// The steps of one run for comparison with other runs: from its archive, or from its steps.csv.
#pragma once

#include <Eigen/Dense>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct RunSteps {
    std::string name;                   // as the user named it
    std::vector<std::string> names;     // "step", then phases
    std::vector<std::int64_t> numbers;  // of steps that every rank completed, ascending
    Eigen::MatrixXd ms;                 // steps x names, means over ranks

    // When the first steps of the lowest rank began and ended on its node's clock: no two runs agree to the ns.
    std::vector<std::int64_t> identity{};
};

// What read_run_steps() reads of a run directory (train/trace/traces.otf2, else train/steps.csv), an archive or a
// steps.csv. Throws Error if there is none.
std::filesystem::path steps_file(const std::filesystem::path& run);

// Throws Error if there are no steps to be read, or in a steps.csv one whose times cannot be: line and column.
RunSteps read_run_steps(const std::filesystem::path& run);

// However they are named or copied.
bool same_run(const RunSteps& a, const RunSteps& b);

}  // namespace analysis
