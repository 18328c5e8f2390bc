// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/strata.hpp"

#include "base/contract/roles.hpp"

#include <algorithm>
#include <numeric>

namespace analysis {

namespace {

constexpr int rounds_of_shares = 4;
constexpr double fewest_degrees = 3.0;  // degrees of freedom that the spread around means needs to say anything

Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver_of(const StratumSums& stratum)
{
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver;
    solver.setThreshold(1e-9);
    solver.compute(stratum.gram);
    return solver;
}

Eigen::VectorXd least_squares(const StratumSums& stratum, Eigen::Index measure)
{
    return solver_of(stratum).solve(stratum.sum.col(measure));
}

}  // namespace

void StratumSums::add(const Eigen::VectorXd& part, const Eigen::RowVectorXd& beyond)
{
    count += part;
    sum += part * beyond;
    squares += part * beyond.cwiseAbs2();
    gram += part * part.transpose();
}

void StratumSums::add(std::size_t slot, Eigen::Index treatment, const Eigen::RowVectorXd& beyond)
{
    add(Eigen::VectorXd::Unit(count.size(), treatment), beyond);
    if (slots.empty() || slots.back().slot != slot)
        slots.push_back({slot, treatment, 0.0, Eigen::RowVectorXd::Zero(beyond.size())});
    slots.back().count += 1.0;
    slots.back().sum += beyond;
}

StratumSums no_sums(const StepStratum& stratum, const LongSteps& steps, Eigen::Index measures)
{
    const auto treatments = static_cast<Eigen::Index>(steps.used.size());
    StratumSums none;
    none.assumed = stratum.assumed;
    none.counted = stratum.counted;
    if (none.assumed.empty()) {
        StratumShare by_plan{std::vector<std::size_t>(steps.used.size()), stratum.share};
        std::iota(by_plan.treatments.begin(), by_plan.treatments.end(), std::size_t{0});
        none.assumed = none.counted = {by_plan};
    }
    none.count = Eigen::VectorXd::Zero(treatments);
    none.sum = Eigen::MatrixXd::Zero(treatments, measures);
    none.squares = Eigen::MatrixXd::Zero(treatments, measures);
    none.gram = Eigen::MatrixXd::Zero(treatments, treatments);
    return none;
}

Eigen::VectorXd met(const Overlaps& overlaps, const Experiment& plan)
{
    Eigen::VectorXd shares = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(plan.treatments.size()));
    for (const Overlap& overlap : overlaps) {
        const std::size_t treatment = plan.treatment_of[overlap.slot];
        const std::vector<Assigned>& on = plan.treatments[treatment].on;
        const bool is_control =
            std::any_of(on.begin(), on.end(), [](const Assigned& one) { return base::is_control(one.role); });
        shares[is_control ? 0 : static_cast<Eigen::Index>(treatment)] += overlap.share;
    }
    shares[0] += 1.0 - shares.sum();
    return shares;
}

StratumSums share_work(const StratumSums& none, const std::vector<Straddling>& steps,
                       const Eigen::VectorXd& ordinary_ms)
{
    Eigen::VectorXd pace = Eigen::VectorXd::Ones(ordinary_ms.size());
    StratumSums sums = none;
    for (int round = 0; round < rounds_of_shares; ++round) {
        sums = none;
        sums.shared = true;
        for (const Straddling& step : steps) {
            const Eigen::VectorXd work = step.time.cwiseQuotient(pace);
            sums.add(work / work.sum(), step.beyond);
        }
        pace = ordinary_ms + least_squares(sums, 0);
        pace = pace.cwiseMax(pace.maxCoeff() * 0.05);
    }
    return sums;
}

namespace {

// The variance of a step around the mean of all steps: used where there are hardly more steps than means.
double variance_of_all(const StratumSums& stratum, Eigen::Index measure)
{
    const double count = stratum.count.sum();
    const double sum = stratum.sum.col(measure).sum();
    if (count <= 1.0) return sum * sum;
    return std::max(0.0, stratum.squares.col(measure).sum() - sum * sum / count) / (count - 1.0);
}

StratumMean mean_of_shared(const StratumSums& stratum, Eigen::Index measure)
{
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver = solver_of(stratum);
    StratumMean found{solver.solve(stratum.sum.col(measure)), {}};
    const double squares = stratum.squares.col(measure).sum() - found.mean.dot(stratum.sum.col(measure));
    found.degrees_of_freedom = std::max(1.0, stratum.count.sum() - static_cast<double>(solver.rank()));
    const Eigen::MatrixXd inverse = solver.solve(Eigen::MatrixXd::Identity(stratum.gram.rows(), stratum.gram.cols()));
    found.residual_variance = std::max(0.0, squares) / found.degrees_of_freedom;
    if (stratum.count.sum() - static_cast<double>(solver.rank()) < fewest_degrees)
        found.residual_variance = std::max(found.residual_variance, variance_of_all(stratum, measure));
    found.variance = found.residual_variance * inverse.diagonal().cwiseMax(0.0);
    return found;
}

// Factor by which the variance of a mean exceeds that of independent steps: the design effect (Kish, Survey Sampling,
// 1965) of clusters, the slots in which the steps began; at least 1.
double design_effect(const StratumSums& stratum, Eigen::Index measure, const StratumMean& means,
                     const Eigen::VectorXd& squares)
{
    Eigen::VectorXd slots = Eigen::VectorXd::Zero(squares.size());
    Eigen::VectorXd of_slots = Eigen::VectorXd::Zero(squares.size());
    for (const StratumSums::InSlot& slot : stratum.slots) {
        const double beyond = slot.sum[measure] - slot.count * means.mean[slot.treatment];
        slots[slot.treatment] += 1.0;
        of_slots[slot.treatment] += beyond * beyond;
    }
    double clustered = 0.0;
    double independent = 0.0;
    for (Eigen::Index t = 0; t < slots.size(); ++t) {
        if (slots[t] < 2.0) continue;
        clustered += of_slots[t] * slots[t] / (slots[t] - 1.0);
        independent += squares[t] * stratum.count[t] / (stratum.count[t] - 1.0);
    }
    return independent > 0.0 ? std::max(1.0, clustered / independent) : 1.0;
}

}  // namespace

StratumMean mean_of(const StratumSums& stratum, Eigen::Index measure)
{
    if (stratum.shared) return mean_of_shared(stratum, measure);
    const Eigen::Index treatments = stratum.count.size();
    StratumMean found{Eigen::VectorXd::Zero(treatments), Eigen::VectorXd::Zero(treatments)};
    Eigen::VectorXd squares = Eigen::VectorXd::Zero(treatments);
    double all_squares = 0.0;
    double degrees = 0.0;
    for (Eigen::Index t = 0; t < treatments; ++t) {
        const double count = stratum.count[t];
        if (count == 0.0) continue;
        found.mean[t] = stratum.sum(t, measure) / count;
        squares[t] = std::max(0.0, stratum.squares(t, measure) - count * found.mean[t] * found.mean[t]);
        all_squares += squares[t];
        degrees += count - 1.0;
    }
    found.residual_variance = all_squares / std::max(1.0, degrees);
    if (degrees < fewest_degrees)
        found.residual_variance = std::max(found.residual_variance, variance_of_all(stratum, measure));
    const double design = design_effect(stratum, measure, found, squares);
    for (Eigen::Index t = 0; t < treatments; ++t) {
        const double count = stratum.count[t];
        if (count == 0.0) continue;
        const double own = count > 1.0 ? squares[t] / (count - 1.0) : 0.0;
        found.variance[t] = design * std::max(own, found.residual_variance) / count;
    }
    found.degrees_of_freedom = std::max(1.0, degrees / design);
    return found;
}

const StratumSums& that_explains_more(const StratumSums& by_begin, const StratumSums& met)
{
    return mean_of(by_begin, 0).residual_variance <= mean_of(met, 0).residual_variance ? by_begin : met;
}

}  // namespace analysis
