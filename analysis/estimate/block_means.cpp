// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/block_means.hpp"

#include "base/error.hpp"

#include <optional>
#include <vector>

namespace analysis {

namespace {

// Normal equations of means by treatment with a mean of its own for each block: sums over blocks of products around
// the block's means. The shares of a step add up to one, so that the sums of the columns follow from their products.
struct WithinBlocks {
    double steps = 0.0;
    Eigen::VectorXd work;      // [treatment]
    Eigen::RowVectorXd time;   // [measure]
    Eigen::MatrixXd gram;      // treatments x treatments
    Eigen::MatrixXd products;  // treatments x measures

    void add(const WithinBlocks& other, double sign)
    {
        steps += sign * other.steps;
        work += sign * other.work;
        time += sign * other.time;
        gram += sign * other.gram;
        products += sign * other.products;
    }
};

WithinBlocks within(const BlockSums& block)
{
    WithinBlocks sums{block.gram.sum(), block.gram.rowwise().sum(), block.time.colwise().sum(), block.gram, block.time};
    if (sums.steps <= 0.0) return sums;
    sums.gram -= sums.work * sums.work.transpose() / sums.steps;
    sums.products -= sums.work * sums.time / sums.steps;
    return sums;
}

WithinBlocks sums_within(const std::vector<BlockSums>& blocks)
{
    WithinBlocks all = within(blocks.front());
    for (std::size_t b = 1; b < blocks.size(); ++b) all.add(within(blocks[b]), 1.0);
    return all;
}

// By how much each treatment but the first is above the first; none where the steps do not separate the treatments.
std::optional<Eigen::MatrixXd> above_first(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& products)
{
    const Eigen::Index others = gram.cols() - 1;
    if (others == 0) return Eigen::MatrixXd{0, products.cols()};
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver;
    solver.setThreshold(1e-9);
    solver.compute(gram.bottomRightCorner(others, others));
    if (solver.rank() < others) return std::nullopt;
    return solver.solve(products.bottomRows(others));
}

// The treatments' means of those differences: over all steps the means add up to the time.
Eigen::MatrixXd means_of(const Eigen::MatrixXd& above, const WithinBlocks& all)
{
    const Eigen::RowVectorXd first = (all.time - all.work.tail(above.rows()).transpose() * above) / all.steps;
    Eigen::MatrixXd means(above.rows() + 1, first.size());
    means.row(0) = first;
    means.bottomRows(above.rows()) = above.rowwise() + first;
    return means;
}

std::optional<Eigen::MatrixXd> solve(const WithinBlocks& all)
{
    const std::optional<Eigen::MatrixXd> above = above_first(all.gram, all.products);
    if (!above || all.steps <= 0.0) return std::nullopt;
    return means_of(*above, all);
}

// To first order, what a block moves the means by.
Eigen::MatrixXd moved_by(const WithinBlocks& block, const WithinBlocks& all, const Eigen::MatrixXd& means)
{
    const Eigen::MatrixXd above = *above_first(all.gram, block.products - block.gram * means);
    const Eigen::RowVectorXd beyond = block.time - block.work.transpose() * means;
    return means_of(above, {all.steps, all.work, beyond, {}, {}});
}

}  // namespace

void solve_means(Fit& fit, const Experiment& plan)
{
    if (fit.blocks.empty()) base::fail("no step of the training was covered by whole blocks of the noise");
    BlockSums pooled = fit.blocks.front();
    for (std::size_t b = 1; b < fit.blocks.size(); ++b) {
        pooled.gram += fit.blocks[b].gram;
        pooled.time += fit.blocks[b].time;
    }
    WithinBlocks all = sums_within(fit.blocks);
    const bool blocks_apart = solve(all).has_value();
    if (!blocks_apart) all = within(pooled);  // too few steps for a mean of each block
    const std::optional<Eigen::MatrixXd> means = solve(all);
    if (!means) {
        Eigen::Index least = 0;
        fit.work.minCoeff(&least);
        base::fail("no step under '", plan.treatments[static_cast<std::size_t>(least)].name(),
                   "' can be separated from steps under other treatments: use longer slots");
    }
    fit.mean_ms = *means;
    const auto count = static_cast<double>(fit.blocks.size());
    for (BlockSums& block : fit.blocks) {
        const WithinBlocks own = within(block);
        WithinBlocks rest = all;
        if (blocks_apart)
            rest.add(own, -1.0);
        else
            rest = within({block.block, pooled.gram - block.gram, pooled.time - block.time, {}, {}});
        const std::optional<Eigen::MatrixXd> without = solve(rest);
        block.influence = without ? Eigen::MatrixXd{(count - 1.0) * (fit.mean_ms - *without)}
                                  : Eigen::MatrixXd{count * moved_by(own, all, fit.mean_ms)};
    }
}

}  // namespace analysis
