#include "analysis/estimate/outliers.hpp"

#include "analysis/estimate/inference.hpp"
#include "base/contract/roles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace analysis {

namespace {

constexpr double limit_deviations = 5.0;
constexpr double most_accidents = 0.05;  // of one treatment's steps
constexpr int neighbours = 2;            // blocks on each side that share a centre
constexpr double mad_to_deviation = 1.4826;
constexpr double rounding = 1e-6;  // relative; a deviation of exactly zero would make rounding errors outliers

std::size_t index(Eigen::Index i)
{
    return static_cast<std::size_t>(i);
}

// Medians of wholly covered steps, by block and treatment; where a window holds none, of the whole run.
Eigen::MatrixXd centres(const Eigen::VectorXd& step_ms, std::span<const Overlaps> overlaps, std::span<const int> block,
                        const Experiment& plan)
{
    const std::size_t treatments = plan.treatments.size();
    const auto blocks = static_cast<std::size_t>(plan.blocks);
    std::vector<std::vector<double>> whole(blocks * treatments);
    std::vector<std::vector<double>> mostly(treatments);
    for (std::size_t i = 0; i < overlaps.size(); ++i) {
        if (block[i] < 0) continue;
        const std::size_t treatment = main_treatment(overlaps[i], plan);
        const double ms = step_ms[static_cast<Eigen::Index>(i)];
        if (wholly_under(overlaps[i], plan, treatment))
            whole[static_cast<std::size_t>(block[i]) * treatments + treatment].push_back(ms);
        mostly[treatment].push_back(ms);
    }
    Eigen::MatrixXd centre(plan.blocks, static_cast<Eigen::Index>(treatments));
    std::vector<double> window;
    for (std::size_t t = 0; t < treatments; ++t) {
        const double fallback = mostly[t].empty() ? step_ms.mean() : median(mostly[t]);
        for (int b = 0; b < plan.blocks; ++b) {
            window.clear();
            for (int near = std::max(0, b - neighbours); near <= std::min(plan.blocks - 1, b + neighbours); ++near) {
                const std::vector<double>& here = whole[static_cast<std::size_t>(near) * treatments + t];
                window.insert(window.end(), here.begin(), here.end());
            }
            centre(b, static_cast<Eigen::Index>(t)) = window.empty() ? fallback : median(window);
        }
    }
    return centre;
}

double mixed_centre(const Overlaps& overlaps, int block, const Eigen::MatrixXd& centre, const Experiment& plan)
{
    double time = 0.0;
    double work = 0.0;
    for (const Overlap& overlap : overlaps) {
        time += overlap.share;
        work += overlap.share / centre(block, static_cast<Eigen::Index>(plan.treatment_of[overlap.slot]));
    }
    return time / work;
}

// By block: of the slowest noise. Controls are not compared with noise.
Eigen::VectorXd slowest(const Eigen::MatrixXd& centre, const Experiment& plan)
{
    Eigen::VectorXd most = centre.col(0);
    for (std::size_t t = 1; t < plan.treatments.size(); ++t) {
        const std::vector<Assigned>& on = plan.treatments[t].on;
        if (std::any_of(on.begin(), on.end(), [](const Assigned& one) { return base::is_control(one.role); })) continue;
        most = most.cwiseMax(centre.col(static_cast<Eigen::Index>(t)));
    }
    return most;
}

}  // namespace

std::size_t Outliers::count() const
{
    return std::accumulate(of.begin(), of.end(), std::size_t{0});
}

std::size_t main_treatment(const Overlaps& overlaps, const Experiment& plan)
{
    if (overlaps.size() == 1) return plan.treatment_of[overlaps.front().slot];
    std::vector<double> shares(plan.treatments.size(), 0.0);
    for (const Overlap& overlap : overlaps) shares[plan.treatment_of[overlap.slot]] += overlap.share;
    return static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

Outliers find_outliers(const Eigen::VectorXd& step_ms, std::span<const Overlaps> overlaps, std::span<const int> block,
                       const Experiment& plan, const std::vector<bool>& stopped)
{
    Outliers outliers;
    outliers.slow.assign(overlaps.size(), false);
    outliers.of.assign(plan.treatments.size(), 0);
    outliers.used.assign(plan.treatments.size(), 0);
    const Eigen::MatrixXd centre = centres(step_ms, overlaps, block, plan);

    const Eigen::VectorXd slow = slowest(centre, plan);
    Eigen::VectorXd excess_ms = Eigen::VectorXd::Zero(step_ms.size());
    Eigen::VectorXd scale_ms = Eigen::VectorXd::Zero(step_ms.size());  // on which the limit is relative
    std::vector<double> used;
    for (Eigen::Index i = 0; i < step_ms.size(); ++i) {
        if (block[index(i)] < 0) continue;
        const double expected = mixed_centre(overlaps[index(i)], block[index(i)], centre, plan);
        excess_ms[i] = step_ms[i] - expected;
        scale_ms[i] = std::max(expected, slow[block[index(i)]]);
        used.push_back(excess_ms[i] / expected);
    }
    if (used.empty()) return outliers;
    const double middle = median(used);
    for (double& value : used) value = std::abs(value - middle);
    outliers.robust_deviation = mad_to_deviation * median(used);

    const double limit = limit_deviations * std::max(outliers.robust_deviation, rounding);
    for (Eigen::Index i = 0; i < step_ms.size(); ++i) {
        if (block[index(i)] < 0) continue;
        const std::size_t treatment = main_treatment(overlaps[index(i)], plan);
        ++outliers.used[treatment];
        if (excess_ms[i] <= limit * scale_ms[i] || (!stopped.empty() && stopped[index(i)])) continue;
        outliers.slow[index(i)] = true;
        ++outliers.of[treatment];
    }
    for (std::size_t t = 0; t < plan.treatments.size(); ++t)
        if (static_cast<double>(outliers.of[t]) > most_accidents * static_cast<double>(outliers.used[t]))
            outliers.set_aside = false;
    return outliers;
}

}  // namespace analysis
