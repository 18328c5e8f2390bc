#include "analysis/controls.hpp"

#include "analysis/roles.hpp"

#include <algorithm>

namespace analysis {

namespace {

// The treatment that is nothing but a factor of that role.
std::optional<std::size_t> treatment_of(const Experiment& plan, Role role)
{
    for (std::size_t t = 0; t < plan.treatments.size(); ++t) {
        const std::vector<Assigned>& on = plan.treatments[t].on;
        if (on.size() == 1 && role_of(on.front().stressor) == role) return t;
    }
    return std::nullopt;
}

// Used steps of a rank that lie wholly under the treatment.
std::vector<std::size_t> steps_under(const DesignedRun& run, const Analysis& analysis, std::size_t rank,
                                     std::size_t treatment)
{
    std::vector<std::size_t> steps;
    for (std::size_t i = 0; i < run.steps.numbers.size(); ++i)
        if (analysis.exposures.left_out[i] == LeftOut::no &&
            wholly_under(analysis.exposures.ranks[rank][i], run.plan, treatment))
            steps.push_back(i);
    return steps;
}

}  // namespace

std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis)
{
    const auto phase = std::find(run.steps.phases.begin(), run.steps.phases.end(), "control_delay");
    const std::optional<std::size_t> delayed = treatment_of(run.plan, Role::delay);
    if (phase == run.steps.phases.end() || !delayed) return std::nullopt;
    const auto column = static_cast<Eigen::Index>(phase - run.steps.phases.begin());
    const std::vector<std::size_t> steps = steps_under(run, analysis, 0, *delayed);
    double sum_ms = 0.0;
    for (const std::size_t i : steps) sum_ms += run.steps.ranks.front().phase_ms(static_cast<Eigen::Index>(i), column);
    if (sum_ms == 0.0) return std::nullopt;
    return 100.0 * sum_ms / static_cast<double>(steps.size()) / analysis.quiet_step_ms;
}

std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis)
{
    const std::optional<std::size_t> paused = treatment_of(run.plan, Role::pause);
    if (!paused) return std::nullopt;
    double sum_ms = 0.0;
    double steps = 0.0;
    for (std::size_t r = 0; r < run.stopped.size(); ++r) {
        const RankSteps& rank = run.steps.ranks[r];
        for (const std::size_t i : steps_under(run, analysis, r, *paused)) {
            sum_ms += 1e-6 * static_cast<double>(overlap_ns(rank.begin_ns[i], rank.end_ns[i], run.stopped[r]));
            steps += 1.0;
        }
    }
    if (sum_ms == 0.0) return std::nullopt;
    return 100.0 * sum_ms / steps / analysis.quiet_step_ms;
}

}  // namespace analysis
