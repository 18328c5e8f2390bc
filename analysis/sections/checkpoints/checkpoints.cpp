// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/checkpoints/checkpoints.hpp"

#include "base/contract/background_work.hpp"
#include "base/contract/phases.hpp"

#include <algorithm>

namespace analysis {

namespace {

struct StepsOfBlock {
    double ms = 0.0;
    double steps = 0.0;
    double mean() const { return ms / steps; }
};

// [step]: the phase, on the rank on which it takes longest.
base::LongColumn<double> longest_ms(const StepTable& steps, Eigen::Index phase)
{
    base::LongColumn<double> longest;
    longest.resize(steps.numbers.size());
    for (std::size_t i = 0; i < longest.size(); ++i)
        for (const RankSteps& rank : steps.ranks)
            longest[i] = std::max(longest[i], rank.phase_ms(static_cast<Eigen::Index>(i), phase));
    return longest;
}

}  // namespace

std::vector<CheckpointCost> checkpoint_costs(const DesignedRun& run, const Analysis& analysis)
{
    const std::vector<std::string>& phases = run.steps.phases;
    const auto phase = std::find(phases.begin(), phases.end(), base::text(base::TrainingPhase::checkpoint));
    if (phase == phases.end()) return {};
    const base::LongColumn<double> written_ms = longest_ms(run.steps, phase - phases.begin());
    const base::LongColumn<int> used = used_blocks(analysis.exposures);
    const Measures step_ms = measures_of(run.steps);
    const bool others_wait = run.steps.ranks.size() > 1;

    std::vector<CheckpointCost> costs;
    for (std::size_t t = 1; t < run.plan.treatments.size(); ++t) {
        const std::vector<Assigned>& on = run.plan.treatments[t].on;
        if (on.size() != 1 || on.front().stressor != base::job_checkpoint) continue;
        CheckpointCost cost{.factor = on.front().factor, .level = on.front().level};
        std::vector<StepsOfBlock> beside(static_cast<std::size_t>(run.plan.blocks));
        std::vector<StepsOfBlock> quiet = beside;
        auto last_slot = analysis.exposures.slot.front() - 1;
        double slots = 0.0;
        for (std::size_t i = 0; i < used.size(); ++i) {
            if (used[i] < 0) continue;
            const std::size_t treatment = treatment_of(analysis.exposures, run.plan, i);
            if (treatment != t && treatment != 0) continue;
            if (written_ms[i] > 0.0) {
                if (treatment == t) cost.checkpoint_ms += written_ms[i];
                if (treatment == t) ++cost.checkpoints;
                continue;
            }
            if (others_wait && i > 0 && written_ms[i - 1] > 0.0) continue;
            if (is_set_aside(analysis, run.plan, i) || !wholly_under_its_own(analysis.exposures, run.plan, i)) continue;
            StepsOfBlock& block = (treatment == t ? beside : quiet)[static_cast<std::size_t>(used[i])];
            block.ms += step_ms.first(i);
            block.steps += 1.0;
            if (treatment != t) continue;
            ++cost.between;
            cost.between_s += step_ms.first(i) / 1e3;
            if (analysis.exposures.slot[i] != last_slot) ++slots;
            last_slot = analysis.exposures.slot[i];
        }
        std::vector<double> longer_percent;
        for (std::size_t b = 0; b < beside.size(); ++b)
            if (beside[b].steps > 0.0 && quiet[b].steps > 0.0)
                longer_percent.push_back(100.0 * (beside[b].mean() / quiet[b].mean() - 1.0));
        if (longer_percent.size() < 2) continue;
        if (cost.checkpoints > 0) cost.checkpoint_ms /= static_cast<double>(cost.checkpoints);
        cost.between_s /= slots;
        cost.percent = base::mean_of(longer_percent);
        costs.push_back(std::move(cost));
    }
    return costs;
}

}  // namespace analysis
