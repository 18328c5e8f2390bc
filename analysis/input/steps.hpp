// The training's steps: when each began and ended on every rank, and what it spent its time on.
#pragma once

#include <Eigen/Dense>

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

struct RankSteps {
    int rank = 0;
    std::vector<std::int64_t> begin_ns;  // by step, on the clock of the rank's node
    std::vector<std::int64_t> end_ns;
    Eigen::MatrixXd phase_ms;  // steps x phases; a row adds up to the step
};

// Steps that every rank did, in order.
struct StepTable {
    std::vector<std::string> phases;
    std::vector<std::int64_t> numbers;  // the step's own number, from 0
    std::vector<RankSteps> ranks;
};

// Steps x (1 + phases), in ms: the step itself, then its phases.
Eigen::MatrixXd measures(const RankSteps& rank);

// The same, averaged over ranks: the job's step.
Eigen::MatrixXd job_measures(const StepTable& table);

}  // namespace analysis
