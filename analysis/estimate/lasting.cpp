// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/lasting.hpp"

#include "analysis/estimate/block_means.hpp"

#include <algorithm>

namespace analysis {

namespace {

// The columns of least squares with carry-over: treatments except quiet, and the noises of the slots before.
class LastingColumns {
 public:
    LastingColumns(const Experiment& plan, std::vector<Assigned> noises, const std::vector<int>& windows)
        : plan_{plan}, noises_{std::move(noises)}, before_{noise_before(plan, noises_, windows)}
    {
        of_treatment_ = Eigen::MatrixXd::Zero(treatments(), carried());
        for (std::size_t t = 0; t < plan.treatments.size(); ++t)
            for (const Assigned& on : plan.treatments[t].on)
                if (const auto noise = std::find(noises_.begin(), noises_.end(), on); noise != noises_.end())
                    of_treatment_(static_cast<Eigen::Index>(t), noise - noises_.begin()) = 1.0;
    }

    Eigen::Index treatments() const { return static_cast<Eigen::Index>(plan_.treatments.size()); }
    Eigen::Index carried() const { return static_cast<Eigen::Index>(noises_.size()); }
    Eigen::Index count() const { return treatments() - 1 + carried(); }
    const std::vector<Assigned>& noises() const { return noises_; }
    const Eigen::MatrixXd& of_treatment() const { return of_treatment_; }

    // [slot]: mean step, from the means by treatment after a slot without noise and the carry-over below them.
    Eigen::VectorXd pace_of_slots(const Eigen::VectorXd& means) const
    {
        const auto slots = static_cast<Eigen::Index>(plan_.treatment_of.size());
        Eigen::VectorXd pace(slots);
        for (Eigen::Index s = 0; s < slots; ++s) {
            const auto slot = static_cast<std::size_t>(s);
            pace[s] = means[static_cast<Eigen::Index>(plan_.treatment_of[slot])];
            pace[s] += before_.row(s).dot(means.tail(carried()));
        }
        return pace.cwiseMax(pace.maxCoeff() * 1e-3);
    }

    Eigen::VectorXd of(const Overlaps& shares, const Eigen::VectorXd& pace) const
    {
        Eigen::VectorXd row = Eigen::VectorXd::Zero(count());
        double sum = 0.0;
        for (const Overlap& overlap : shares) {
            const auto treatment = static_cast<Eigen::Index>(treatment_of(overlap, plan_.treatment_of));
            const double work = overlap.share / pace[static_cast<Eigen::Index>(overlap.slot)];
            sum += work;
            if (treatment > 0) row[treatment - 1] += work;
            row.tail(carried()) += work * before_.row(static_cast<Eigen::Index>(overlap.slot)).transpose();
        }
        return row / sum;
    }

 private:
    const Experiment& plan_;
    std::vector<Assigned> noises_;
    Eigen::MatrixXd before_;
    Eigen::MatrixXd of_treatment_;
};

WithinBlocks no_sums(const LastingColumns& columns, Eigen::Index measures)
{
    return {0.0, Eigen::VectorXd::Zero(columns.count()), Eigen::RowVectorXd::Zero(measures),
            Eigen::MatrixXd::Zero(columns.count(), columns.count()), Eigen::MatrixXd::Zero(columns.count(), measures)};
}

// Means by treatment after a slot without noise, and below them the carry-over of each noise. No value if the order of
// slots does not separate carry-over from effects.
std::optional<Eigen::MatrixXd> solve(const WithinBlocks& all, const LastingColumns& columns)
{
    const std::optional<Eigen::MatrixXd> solved = solve(all);
    if (!solved) return std::nullopt;
    Eigen::MatrixXd means = *solved;
    means.middleRows(1, columns.treatments() - 1).rowwise() += solved->row(0);
    return means;
}

WithinBlocks sums_of_block(int block, const StepsByBlock& steps, const LastingColumns& columns,
                           const Eigen::VectorXd& pace, const Series& series, const StepsOf& of)
{
    const Eigen::Index measures = series.measures.cols();
    WithinBlocks sums = no_sums(columns, measures);
    Eigen::RowVectorXd values(measures);
    steps.each(block, [&](std::size_t i) {
        if (of.long_steps.kind[i] != LongSteps::ordinary) return;
        const Overlaps shares = series.shares[i];
        const double weight = weight_of(of.exposures, i);
        const Eigen::VectorXd row = columns.of(shares, pace);
        series.measures.fill(i, {values.data(), static_cast<std::size_t>(measures)});
        sums.steps += weight;
        sums.columns += weight * row;
        sums.time += weight * values;
        sums.squares += weight * row * row.transpose();
        sums.products += weight * row * values;
    });
    centre(sums);
    return sums;
}

}  // namespace

std::vector<Assigned> noises_of(const Experiment& plan)
{
    std::vector<Assigned> all;
    for (const Treatment& treatment : plan.treatments)
        for (const Assigned& on : treatment.on)
            if (on.role == base::Role::treatment && std::find(all.begin(), all.end(), on) == all.end())
                all.push_back(on);
    return all;
}

Eigen::MatrixXd noise_before(const Experiment& plan, const std::vector<Assigned>& noises,
                             const std::vector<int>& windows)
{
    const std::size_t slots = plan.treatment_of.size();
    Eigen::MatrixXd share =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(slots), static_cast<Eigen::Index>(noises.size()));
    for (std::size_t s = 0; s < slots; ++s)
        for (std::size_t n = 0; n < noises.size(); ++n)
            for (std::size_t back = 1; back <= std::min(s, static_cast<std::size_t>(windows[n])); ++back) {
                const std::vector<Assigned>& on = plan.treatments[plan.treatment_of[s - back]].on;
                if (std::find(on.begin(), on.end(), noises[n]) != on.end())
                    share(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(n)) += 1.0 / windows[n];
            }
    return share;
}

std::optional<Lasting> lasting_of(const Fit& fit, const Series& series, const StepsOf& of, std::vector<int> windows)
{
    const std::vector<Assigned> noises = noises_of(of.plan);
    if (windows.empty()) windows.assign(noises.size(), 1);
    const LastingColumns columns{of.plan, noises, windows};
    if (columns.carried() == 0 || fit.blocks.size() < 3) return std::nullopt;
    Eigen::VectorXd means(columns.treatments() + columns.carried());
    means << fit.mean_ms.col(0), Eigen::VectorXd::Zero(columns.carried());
    const StepsByBlock steps{of.block, of.plan.blocks};
    std::vector<WithinBlocks> blocks;
    WithinBlocks all = no_sums(columns, series.measures.cols());
    std::optional<Eigen::MatrixXd> solved;
    // Two rounds, because carry-over changes how a step's work is divided among slots.
    for (int round = 0; round < 2; ++round) {
        blocks.clear();
        all = no_sums(columns, series.measures.cols());
        const Eigen::VectorXd pace = columns.pace_of_slots(means);
        for (const BlockSums& kept : fit.blocks)
            all.add(blocks.emplace_back(sums_of_block(kept.block, steps, columns, pace, series, of)), 1.0);
        solved = solve(all, columns);
        if (!solved) return std::nullopt;
        means = solved->col(0);
    }
    Lasting found{columns.noises(),
                  columns.of_treatment(),
                  solved->topRows(columns.treatments()),
                  solved->bottomRows(columns.carried()),
                  {}};
    for (const WithinBlocks& sums : blocks) {
        all.add(sums, -1.0);
        const std::optional<Eigen::MatrixXd> without = solve(all, columns);
        all.add(sums, 1.0);
        if (!without) return std::nullopt;
        found.influence.emplace_back((static_cast<double>(blocks.size()) - 1.0) * (*solved - *without));
    }
    return found;
}

}  // namespace analysis
