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
};

// run: a run directory (its train/trace/traces.otf2, else its train/steps.csv), an archive, or a steps.csv. Throws
// Error if there are no steps to be read.
RunSteps read_run_steps(const std::filesystem::path& run);

}  // namespace analysis
