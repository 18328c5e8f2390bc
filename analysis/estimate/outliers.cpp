#include "analysis/estimate/outliers.hpp"

#include "analysis/estimate/estimator.hpp"
#include "base/columns/long_order.hpp"
#include "base/contract/roles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace analysis {

namespace {

constexpr double limit_deviations = 5.0;
constexpr double most_accidents = 0.05;  // of one treatment's steps
constexpr int neighbours = 2;            // blocks on each side that share a centre
constexpr double mad_to_deviation = 1.4826;
constexpr double rounding = 1e-6;  // relative; a deviation of exactly zero would make rounding errors outliers

// Steps of one treatment, block by block.
struct ByBlock {
    base::LongColumn<double> ms;
    std::vector<std::size_t> begin;  // [block], and the end
};

std::vector<ByBlock> whole_steps(const Measures& step_ms, const StepOverlaps& overlaps, const StepsByBlock& steps,
                                 const Experiment& plan)
{
    std::vector<ByBlock> whole(plan.treatments.size());
    for (int b = 0; b < plan.blocks; ++b) {
        for (ByBlock& treatment : whole) treatment.begin.push_back(treatment.ms.size());
        steps.each(b, [&](std::size_t i) {
            const Overlaps here = overlaps[i];
            const std::size_t treatment = main_treatment(here, plan);
            if (wholly_under(here, plan, treatment)) whole[treatment].ms.push_back(step_ms.first(i));
        });
    }
    for (ByBlock& treatment : whole) treatment.begin.push_back(treatment.ms.size());
    return whole;
}

// Median of the steps mostly under a treatment; without any the mean of all steps.
double median_of_run(const Measures& step_ms, const StepOverlaps& overlaps, const base::LongColumn<int>& block,
                     const Experiment& plan, std::size_t treatment)
{
    base::LongColumn<double> mostly;
    double sum = 0.0;
    for (std::size_t i = 0; i < block.size(); ++i) {
        sum += step_ms.first(i);
        if (block[i] >= 0 && main_treatment(overlaps[i], plan) == treatment) mostly.push_back(step_ms.first(i));
    }
    return mostly.empty() ? sum / static_cast<double>(block.size()) : base::median(mostly);
}

// Medians of wholly covered steps, by block and treatment; where a window holds none, of the whole run.
Eigen::MatrixXd centres(const Measures& step_ms, const StepOverlaps& overlaps, const base::LongColumn<int>& block,
                        const Experiment& plan)
{
    const std::vector<ByBlock> whole = whole_steps(step_ms, overlaps, StepsByBlock{block, plan.blocks}, plan);
    Eigen::MatrixXd centre(plan.blocks, static_cast<Eigen::Index>(plan.treatments.size()));
    for (std::size_t t = 0; t < plan.treatments.size(); ++t) {
        std::optional<double> fallback;
        for (int b = 0; b < plan.blocks; ++b) {
            const auto near = static_cast<std::size_t>(std::max(0, b - neighbours));
            const auto until = static_cast<std::size_t>(std::min(plan.blocks, b + neighbours + 1));
            const std::size_t first = whole[t].begin[near];
            const std::size_t last = whole[t].begin[until];
            if (first == last && !fallback) fallback = median_of_run(step_ms, overlaps, block, plan, t);
            centre(b, static_cast<Eigen::Index>(t)) =
                first == last ? *fallback : base::median(whole[t].ms, first, last);
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

Outliers find_outliers(const Measures& step_ms, const StepOverlaps& overlaps, const base::LongColumn<int>& block,
                       const Experiment& plan, const std::function<double(std::size_t step)>& stopped_ms)
{
    Outliers outliers;
    outliers.slow.assign(overlaps.size(), false);
    outliers.of.assign(plan.treatments.size(), 0);
    outliers.used.assign(plan.treatments.size(), 0);
    const Eigen::MatrixXd centre = centres(step_ms, overlaps, block, plan);

    const Eigen::VectorXd slow = slowest(centre, plan);
    base::LongColumn<double> residuals;
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        const double expected = mixed_centre(overlaps[i], block[i], centre, plan);
        residuals.push_back((step_ms.first(i) - expected) / expected);
    }
    if (residuals.empty()) return outliers;
    const double middle = base::median(residuals);
    base::LongColumn<double> distances;
    for (const double residual : residuals) distances.push_back(std::abs(residual - middle));
    outliers.robust_deviation = mad_to_deviation * base::median(distances);

    const double limit = limit_deviations * std::max(outliers.robust_deviation, rounding);
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        const Overlaps here = overlaps[i];
        const std::size_t treatment = main_treatment(here, plan);
        ++outliers.used[treatment];
        const double expected = mixed_centre(here, block[i], centre, plan);
        const double most_ms = limit * std::max(expected, slow[block[i]]);
        const double longer_ms = step_ms.first(i) - expected;
        if (longer_ms <= most_ms || (stopped_ms && longer_ms - 2.0 * stopped_ms(i) <= most_ms)) continue;
        outliers.slow[i] = true;
        ++outliers.of[treatment];
    }
    for (std::size_t t = 0; t < plan.treatments.size(); ++t)
        if (static_cast<double>(outliers.of[t]) > most_accidents * static_cast<double>(outliers.used[t]))
            outliers.set_aside = false;
    return outliers;
}

}  // namespace analysis
