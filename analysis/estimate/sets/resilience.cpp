// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/sets/resilience.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

double deviation_percent(const Eigen::VectorXd& runs)
{
    const double mean = runs.mean();
    return mean > 0.0 ? 100.0 * (runs.array() - mean).abs().mean() / mean : 0.0;
}

double variance(const Eigen::VectorXd& runs)
{
    return (runs.array() - runs.mean()).square().sum() /
           static_cast<double>(std::max<Eigen::Index>(1, runs.size() - 1));
}

Resilience scores(const PhaseOfRuns& phase, double quiet_total)
{
    Resilience found;
    found.phase = phase.phase;
    double quiet_sum = 0.0;
    double noisy_sum = 0.0;
    for (const Eigen::VectorXd& runs : phase.quiet) quiet_sum += runs.mean();
    for (const Eigen::VectorXd& runs : phase.noisy) noisy_sum += runs.mean();
    found.contribution = quiet_total > 0.0 ? quiet_sum / quiet_total : 0.0;
    double susceptibility = 0.0;
    bool finite = quiet_sum > 0.0;
    for (std::size_t r = 0; r < phase.quiet.size(); ++r) {
        const Eigen::VectorXd& quiet = phase.quiet[r];
        const Eigen::VectorXd& noisy = phase.noisy[r];
        const double weight = quiet_sum > 0.0 ? quiet.mean() / quiet_sum : 0.0;
        const double noisy_weight = noisy_sum > 0.0 ? noisy.mean() / noisy_sum : 0.0;
        found.deviation_quiet_percent += weight * deviation_percent(quiet);
        found.deviation_noisy_percent += noisy_weight * deviation_percent(noisy);
        const double both = variance(quiet) + variance(noisy);
        if (weight <= 0.0) continue;
        finite = finite && both > 0.0;
        if (both > 0.0) susceptibility += weight * std::abs(noisy.mean() - quiet.mean()) / std::sqrt(both);
    }
    if (finite) found.susceptibility = susceptibility;
    return found;
}

double larger_deviation(const Resilience& phase)
{
    return std::max(phase.deviation_quiet_percent, phase.deviation_noisy_percent);
}

}  // namespace

std::vector<Resilience> resilience(const std::vector<PhaseOfRuns>& phases)
{
    double total = 0.0;
    for (const PhaseOfRuns& phase : phases)
        for (const Eigen::VectorXd& runs : phase.quiet) total += runs.mean();
    std::vector<Resilience> all;
    for (const PhaseOfRuns& phase : phases) all.push_back(scores(phase, total));
    std::vector<Resilience*> known;
    for (Resilience& phase : all)
        if (phase.susceptibility) known.push_back(&phase);
    if (known.empty()) return all;
    const auto [d_min, d_max] = std::minmax_element(known.begin(), known.end(), [](const auto* a, const auto* b) {
        return larger_deviation(*a) < larger_deviation(*b);
    });
    const auto [s_min, s_max] = std::minmax_element(known.begin(), known.end(), [](const auto* a, const auto* b) {
        return *a->susceptibility < *b->susceptibility;
    });
    const double most_d = larger_deviation(**d_max);
    const double most_s = *(*s_max)->susceptibility;
    const auto ratio = [](double value, double most) { return most > 0.0 ? value / most : 0.0; };
    const double spread_d = ratio(larger_deviation(**d_min), most_d);
    const double spread_s = ratio(*(*s_min)->susceptibility, most_s);
    const double weight = spread_d > 0.0 ? std::min(1.0, spread_s / spread_d) : 1.0;
    for (Resilience* phase : known)
        phase->resilience = 1.0 / ((1.0 + ratio(larger_deviation(*phase), most_d)) *
                                   (1.0 + weight * ratio(*phase->susceptibility, most_s)));
    std::stable_sort(known.begin(), known.end(),
                     [](const auto* a, const auto* b) { return *a->resilience > *b->resilience; });
    for (std::size_t i = 0; i < known.size(); ++i) known[i]->place = static_cast<int>(i) + 1;
    return all;
}

}  // namespace analysis
