// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/block_means.hpp"

#include "base/error.hpp"

#include <vector>

namespace analysis {

namespace {

// Sums of one block. Columns are the treatments except quiet; since the shares of a step add up to one, sums of the
// columns follow from their products.
WithinBlocks within(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& time)
{
    const Eigen::Index others = gram.cols() - 1;
    WithinBlocks sums{gram.sum(), gram.rowwise().sum().tail(others), time.colwise().sum(),
                      gram.bottomRightCorner(others, others), time.bottomRows(others)};
    centre(sums);
    return sums;
}

// Means by treatment, from the mean of quiet (row 0) and the differences of the others from it.
Eigen::MatrixXd means_of(const Eigen::MatrixXd& solved)
{
    Eigen::MatrixXd means = solved;
    means.bottomRows(solved.rows() - 1).rowwise() += solved.row(0);
    return means;
}

// Change of the means that one block causes, to first order.
Eigen::MatrixXd moved_by(const WithinBlocks& block, const WithinBlocks& all, const Eigen::MatrixXd& solved)
{
    const Eigen::MatrixXd added = solved.bottomRows(solved.rows() - 1);
    WithinBlocks beyond = all;
    beyond.products = block.products - block.squares * added;
    beyond.time = block.time - block.steps * solved.row(0) - block.columns.transpose() * added;
    return means_of(*solve(beyond));
}

}  // namespace

void WithinBlocks::add(const WithinBlocks& other, double sign)
{
    steps += sign * other.steps;
    columns += sign * other.columns;
    time += sign * other.time;
    squares += sign * other.squares;
    products += sign * other.products;
}

void centre(WithinBlocks& block)
{
    if (block.steps <= 0.0) return;
    block.squares -= block.columns * block.columns.transpose() / block.steps;
    block.products -= block.columns * block.time / block.steps;
}

std::optional<Eigen::MatrixXd> solve(const WithinBlocks& all)
{
    const Eigen::Index columns = all.columns.size();
    if (all.steps <= 0.0) return std::nullopt;
    Eigen::MatrixXd found{columns, all.time.size()};
    if (columns > 0) {
        Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver;
        solver.setThreshold(1e-9);
        solver.compute(all.squares);
        if (solver.rank() < columns) return std::nullopt;
        found = solver.solve(all.products);
    }
    Eigen::MatrixXd solved(columns + 1, all.time.size());
    solved.row(0) = (all.time - all.columns.transpose() * found) / all.steps;
    solved.bottomRows(columns) = found;
    return solved;
}

void solve_means(Fit& fit, const Experiment& plan)
{
    if (fit.blocks.empty()) base::fail("no step of the training was covered by whole blocks of the noise");
    std::vector<WithinBlocks> blocks;
    for (const BlockSums& block : fit.blocks) blocks.push_back(within(block.gram, block.time));
    Eigen::MatrixXd gram = fit.blocks.front().gram;
    Eigen::MatrixXd time = fit.blocks.front().time;
    WithinBlocks all = blocks.front();
    for (std::size_t b = 1; b < blocks.size(); ++b) {
        gram += fit.blocks[b].gram;
        time += fit.blocks[b].time;
        all.add(blocks[b], 1.0);
    }
    std::optional<Eigen::MatrixXd> solved = solve(all);
    const bool blocks_apart = solved.has_value();
    if (!blocks_apart) {  // too few steps for a mean of each block: one mean for all
        all = within(gram, time);
        solved = solve(all);
    }
    if (!solved) {
        Eigen::Index least = 0;
        fit.work.minCoeff(&least);
        base::fail("no step under '", plan.treatments[static_cast<std::size_t>(least)].name(),
                   "' can be separated from steps under other treatments: use longer slots");
    }
    fit.mean_ms = means_of(*solved);
    const auto count = static_cast<double>(blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        BlockSums& block = fit.blocks[b];
        WithinBlocks rest = all;
        if (blocks_apart)
            rest.add(blocks[b], -1.0);
        else
            rest = within(gram - block.gram, time - block.time);
        const std::optional<Eigen::MatrixXd> without = solve(rest);
        block.influence = without ? Eigen::MatrixXd{(count - 1.0) * (fit.mean_ms - means_of(*without))}
                                  : Eigen::MatrixXd{count * moved_by(blocks[b], all, *solved)};
    }
}

}  // namespace analysis
