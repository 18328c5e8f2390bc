#include "analysis/conclude/controls.hpp"

#include "base/contract/phases.hpp"

#include <algorithm>

namespace analysis {

namespace {

// The treatment that is nothing but the control.
std::optional<std::size_t> treatment_of(const Experiment& plan, const Assigned& control)
{
    const auto found = std::find(plan.treatments.begin(), plan.treatments.end(), Treatment{{control}});
    if (found == plan.treatments.end()) return std::nullopt;
    return static_cast<std::size_t>(found - plan.treatments.begin());
}

bool stopped_under(const DesignedRun& run, std::size_t treatment)
{
    for (std::size_t r = 0; r < run.stopped.size(); ++r)
        for (std::size_t c = 0; c < run.slots[r].size(); ++c)
            if (run.plan.treatment_of[c] == treatment &&
                overlap_ns(run.slots[r][c].begin_ns, run.slots[r][c].end_ns, run.stopped[r]) > 0)
                return true;
    return false;
}

double mean_stopped_ms(const DesignedRun& run, std::size_t step)
{
    double sum_ms = 0.0;
    for (std::size_t r = 0; r < run.stopped.size(); ++r) sum_ms += stopped_ms(run, r, step);
    return sum_ms / static_cast<double>(run.stopped.size());
}

// Used steps of rank 0 that lie wholly under the treatment.
base::LongColumn<std::size_t> steps_under(const DesignedRun& run, const Analysis& analysis, std::size_t treatment)
{
    base::LongColumn<std::size_t> steps;
    for (std::size_t i = 0; i < run.steps.numbers.size(); ++i)
        if (analysis.exposures.left_out[i] == LeftOut::no &&
            wholly_under(analysis.exposures.ranks.front()[i], run.plan, treatment))
            steps.push_back(i);
    return steps;
}

}  // namespace

std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control)
{
    const auto phase =
        std::find(run.steps.phases.begin(), run.steps.phases.end(), base::text(base::TrainingPhase::control_delay));
    const std::optional<std::size_t> delayed = treatment_of(run.plan, control);
    if (phase == run.steps.phases.end() || !delayed) return std::nullopt;
    const auto column = static_cast<Eigen::Index>(phase - run.steps.phases.begin());
    const base::LongColumn<std::size_t> steps = steps_under(run, analysis, *delayed);
    double sum_ms = 0.0;
    for (const std::size_t i : steps) sum_ms += run.steps.ranks.front().phase_ms(static_cast<Eigen::Index>(i), column);
    if (sum_ms == 0.0) return std::nullopt;
    return 100.0 * sum_ms / static_cast<double>(steps.size()) / analysis.quiet_step_ms;
}

std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis, const Assigned& control)
{
    const std::optional<std::size_t> paused = treatment_of(run.plan, control);
    if (!paused || !stopped_under(run, *paused)) return std::nullopt;
    const Measures step_ms = measures_of(run.steps).only(1);
    const Measures with_stopped{run.steps.numbers.size(), 2, [&](std::size_t step, std::span<double> values) {
                                    values[0] = step_ms.first(step);
                                    if (values.size() > 1) values[1] = mean_stopped_ms(run, step);
                                }};
    const Series series{all_ranks, &analysis.exposures.job, with_stopped, {"step", "stopped"}};
    const base::LongColumn<int> block = used_blocks(analysis.exposures);
    const Fit fitted = fit(*series.overlaps, block, with_stopped, run.plan);
    const std::vector<Effect> all = effects(series, block, fitted, run.plan, {.count = 0});
    const Effect* stopped = find(all, control.factor, control.level, Kind::alone, "stopped");
    return stopped == nullptr ? std::nullopt : std::optional{stopped->percent.value};
}

}  // namespace analysis
