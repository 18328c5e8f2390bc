// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/shared_state.hpp"

#include "analysis/estimate/slot_model.hpp"

#include <algorithm>
#include <array>

namespace analysis {

namespace {

bool has_noise(const Experiment& plan, std::size_t slot)
{
    const std::vector<Assigned>& on = plan.treatments[plan.treatment_of[slot]].on;
    return std::any_of(on.begin(), on.end(), [](const Assigned& one) { return one.role == base::Role::treatment; });
}

// [slot]: 1 if the slot has no noise, but one of the `slots` slots before it has.
Eigen::VectorXd soon_after_noise(const Experiment& plan, int slots)
{
    Eigen::VectorXd soon = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(plan.treatment_of.size()));
    std::size_t last = plan.treatment_of.size();  // slot with noise; this: none yet
    for (std::size_t s = 0; s < plan.treatment_of.size(); ++s) {
        if (has_noise(plan, s))
            last = s;
        else if (last < s && s - last <= static_cast<std::size_t>(slots))
            soon[static_cast<Eigen::Index>(s)] = 1.0;
    }
    return soon;
}

}  // namespace

std::optional<SharedState> shared_state(const Series& series, const StepsOf& steps, const Fit& fit,
                                        const std::vector<CarryOver>& carried, std::uint64_t seed)
{
    constexpr std::array lengths{1, 2, 3, 4, 6, 8};  // in slots
    constexpr double significant = 0.05;
    constexpr int draws = 1999;
    constexpr double quantile_975 = 1.96;
    if (!fit.lasting) return std::nullopt;
    std::vector<int> windows;
    for (const CarryOver& one : carried) windows.push_back(one.slots);
    const SlotMeans slots = means_by_slot(series, steps, fit, Of::ordinary_steps);
    const double quiet_ms = quiet_step_ms(fit, false);
    const auto last = static_cast<Eigen::Index>(fit.lasting->noises.size());
    std::vector<SharedState> found;
    std::vector<double> p;
    for (const int length : lengths) {
        const SlotModel model{steps, slots, fit.lasting->noises, windows, soon_after_noise(steps.plan, length)};
        const std::optional<double> error_ms = model.error_of_extra_ms();
        if (!error_ms) continue;
        const double percent = 100.0 * model.left_ms(last) / quiet_ms;
        found.push_back({length, percent, percent + quantile_975 * 100.0 * *error_ms / quiet_ms});
        p.push_back(model.p(last, {.count = draws, .seed = seed}, SlotModel::Side::more));
    }
    if (p.empty()) return std::nullopt;
    const auto clearest = std::min_element(p.begin(), p.end());
    if (holm(p)[static_cast<std::size_t>(clearest - p.begin())] > significant) return std::nullopt;
    return found[static_cast<std::size_t>(clearest - p.begin())];
}

}  // namespace analysis
