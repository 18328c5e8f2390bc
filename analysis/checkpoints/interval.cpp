// SPDX-License-Identifier: Apache-2.0
#include "analysis/checkpoints/interval.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

double young_interval_s(double checkpoint_s, double mtbf_s)
{
    return std::sqrt(2.0 * checkpoint_s * mtbf_s);
}

double daly_interval_s(double checkpoint_s, double mtbf_s)
{
    if (checkpoint_s >= 2.0 * mtbf_s) return mtbf_s;
    const double ratio = checkpoint_s / (2.0 * mtbf_s);
    return young_interval_s(checkpoint_s, mtbf_s) * (1.0 + std::sqrt(ratio) / 3.0 + ratio / 9.0) - checkpoint_s;
}

LostShares lost_shares(double interval_s, const CheckpointCosts& costs)
{
    constexpr double most_exponent = 600.0;  // exp() of more may overflow; all time is lost by then
    const double segment_s = interval_s + costs.checkpoint_s;
    const double failures = std::expm1(std::min(segment_s / costs.mtbf_s, most_exponent));
    const double rework_s = costs.mtbf_s * failures - segment_s + failures * costs.unfinished_s;
    const double restart_s =
        failures * costs.mtbf_s * std::expm1(std::min(costs.restart_s / costs.mtbf_s, most_exponent));
    const double elapsed_s = segment_s + std::max(rework_s, 0.0) + restart_s;
    return {costs.checkpoint_s / elapsed_s, std::max(rework_s, 0.0) / elapsed_s, restart_s / elapsed_s};
}

}  // namespace analysis
