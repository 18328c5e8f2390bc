// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/slot_model.hpp"

#include "analysis/estimate/lasting.hpp"
#include "base/random.hpp"
#include "base/system/stop.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

SlotMeans means_by_slot(const Series& series, const StepsOf& steps, const Fit& fit, Of which)
{
    const auto slots = static_cast<Eigen::Index>(steps.plan.treatment_of.size());
    SlotMeans found{Eigen::VectorXd::Zero(slots), Eigen::VectorXd::Zero(slots)};
    for (std::size_t i = 0; i < steps.block.size(); ++i) {
        if (steps.block[i] < 0) continue;
        const bool is_long = steps.long_steps.kind[i] != LongSteps::ordinary;
        if (is_long && which == Of::ordinary_steps) continue;
        const double all_ms = series.measures.first(i);
        const double ms = is_long ? steps.long_steps.regular[i] * all_ms : all_ms;
        if (is_long) found.mean_ms[static_cast<Eigen::Index>(steps.exposures.slot[i])] += all_ms - ms;
        Overlaps work = series.shares[i];
        double sum = 0.0;
        const auto mean = [&](const Overlap& overlap) {
            return fit.mean_ms(static_cast<Eigen::Index>(treatment_of(overlap, steps.plan.treatment_of)), 0);
        };
        for (const Overlap& overlap : work) sum += overlap.share / mean(overlap);
        for (const Overlap& overlap : work) {
            if (overlap.as_quiet) continue;
            found.work[static_cast<Eigen::Index>(overlap.slot)] += overlap.share / mean(overlap) / sum;
            found.mean_ms[static_cast<Eigen::Index>(overlap.slot)] += overlap.share * ms;
        }
    }
    for (Eigen::Index s = 0; s < slots; ++s)
        if (found.work[s] > 0.0) found.mean_ms[s] /= found.work[s];
    return found;
}

SlotModel::SlotModel(const StepsOf& steps, const SlotMeans& slots, const std::vector<Assigned>& noises,
                     const std::vector<int>& windows, const Eigen::VectorXd& extra)
    : plan_{steps.plan}, root_{slots.work.cwiseSqrt()}
{
    const auto treatments = static_cast<Eigen::Index>(plan_.treatments.size());
    const auto carried = static_cast<Eigen::Index>(noises.size());
    const Eigen::Index extras = extra.size() > 0 ? 1 : 0;
    columns_ = Eigen::MatrixXd::Zero(root_.size(), treatments - 1 + carried + extras);
    for (std::size_t s = 0; s < plan_.treatment_of.size(); ++s)
        if (plan_.treatment_of[s] > 0)
            columns_(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(plan_.treatment_of[s]) - 1) = 1.0;
    columns_.middleCols(treatments - 1, carried) = noise_before(plan_, noises, windows);
    if (extras > 0) columns_.rightCols(1) = extra;
    for (Eigen::Index c = 0; c < columns_.cols(); ++c) columns_.col(c) = scaled(columns_.col(c));
    time_ = scaled(slots.mean_ms);
}

double SlotModel::left_ms(Eigen::Index noise) const
{
    const Eigen::VectorXd found = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>{columns_}.solve(time_);
    return found[static_cast<Eigen::Index>(plan_.treatments.size()) - 1 + noise];
}

std::optional<double> SlotModel::error_of_extra_ms() const
{
    const Eigen::Index others = columns_.cols() - 1;
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver{columns_.leftCols(others)};
    const Eigen::VectorXd column =
        columns_.col(others) - columns_.leftCols(others) * solver.solve(columns_.col(others));
    const Eigen::Index free = (root_.array() > 0.0).count() - plan_.blocks - columns_.cols();
    if (column.squaredNorm() < 1e-6 * columns_.col(others).squaredNorm() || free < 1) return std::nullopt;
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> all{columns_};
    const double rest = (time_ - columns_ * all.solve(time_)).squaredNorm();
    return std::sqrt(rest / static_cast<double>(free) / column.squaredNorm());
}

double SlotModel::p(Eigen::Index noise, const Draws& draws, Side side) const
{
    const auto treatments = static_cast<Eigen::Index>(plan_.treatments.size());
    const Eigen::Index tested = treatments - 1 + noise;
    Eigen::MatrixXd others(columns_.rows(), columns_.cols() - 1);
    others << columns_.leftCols(tested), columns_.rightCols(columns_.cols() - tested - 1);
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver{others};
    const Eigen::VectorXd left = time_ - others * solver.solve(time_);
    const Eigen::VectorXd column = columns_.col(tested) - others * solver.solve(columns_.col(tested));
    std::vector<std::vector<Eigen::Index>> blocks(static_cast<std::size_t>(plan_.blocks));
    for (std::size_t s = 0; s < plan_.block_of.size(); ++s)
        if (root_[static_cast<Eigen::Index>(s)] > 0.0)
            blocks[static_cast<std::size_t>(plan_.block_of[s])].push_back(static_cast<Eigen::Index>(s));
    const auto size = [side](double sum) { return side == Side::both ? std::abs(sum) : sum; };
    const double assigned = size(left.dot(column));
    const double rounding = 1e-9 * std::abs(assigned);
    base::Random random{draws.seed};
    int as_large = 1;
    for (int draw = 0; draw < draws.count; ++draw) {
        base::end_if_stopped();
        double sum = 0.0;
        for (const std::vector<Eigen::Index>& block : blocks) {
            std::vector<Eigen::Index> order = block;
            base::shuffle(random, std::span{order});
            for (std::size_t i = 0; i < block.size(); ++i) sum += left[order[i]] * column[block[i]];
        }
        if (size(sum) >= assigned - rounding) ++as_large;
    }
    return static_cast<double>(as_large) / (draws.count + 1.0);
}

Eigen::VectorXd SlotModel::scaled(const Eigen::VectorXd& values) const
{
    std::vector<double> sum(static_cast<std::size_t>(plan_.blocks), 0.0);
    std::vector<double> weight = sum;
    for (std::size_t s = 0; s < plan_.block_of.size(); ++s) {
        const double own = root_[static_cast<Eigen::Index>(s)] * root_[static_cast<Eigen::Index>(s)];
        sum[static_cast<std::size_t>(plan_.block_of[s])] += own * values[static_cast<Eigen::Index>(s)];
        weight[static_cast<std::size_t>(plan_.block_of[s])] += own;
    }
    Eigen::VectorXd scaled(values.size());
    for (std::size_t s = 0; s < plan_.block_of.size(); ++s) {
        const auto block = static_cast<std::size_t>(plan_.block_of[s]);
        const auto row = static_cast<Eigen::Index>(s);
        scaled[row] = weight[block] > 0.0 ? root_[row] * (values[row] - sum[block] / weight[block]) : 0.0;
    }
    return scaled;
}

}  // namespace analysis
