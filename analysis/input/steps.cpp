#include "analysis/input/steps.hpp"

namespace analysis {

Eigen::MatrixXd measures(const RankSteps& rank)
{
    const auto steps = static_cast<Eigen::Index>(rank.begin_ns.size());
    Eigen::MatrixXd all(steps, 1 + rank.phase_ms.cols());
    for (Eigen::Index i = 0; i < steps; ++i) {
        const auto at = static_cast<std::size_t>(i);
        all(i, 0) = static_cast<double>(rank.end_ns[at] - rank.begin_ns[at]) / 1e6;
    }
    all.rightCols(rank.phase_ms.cols()) = rank.phase_ms;
    return all;
}

Eigen::MatrixXd job_measures(const StepTable& table)
{
    Eigen::MatrixXd sum = measures(table.ranks.at(0));
    for (std::size_t r = 1; r < table.ranks.size(); ++r) sum += measures(table.ranks[r]);
    return sum / static_cast<double>(table.ranks.size());
}

}  // namespace analysis
