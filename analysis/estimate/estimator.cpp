#include "analysis/estimate/estimator.hpp"

#include <algorithm>

namespace analysis {

namespace {

constexpr int rounds = 3;
constexpr double least_steps = 0.5;  // a block lacks a treatment that had less work than this in all its steps

std::vector<BlockMeans> fit_blocks(const Eigen::MatrixXd& shares, const Eigen::MatrixXd& measures,
                                   const std::vector<std::vector<Eigen::Index>>& steps)
{
    std::vector<BlockMeans> blocks;
    for (std::size_t b = 0; b < steps.size(); ++b) {
        const Eigen::MatrixXd here = shares(steps[b], Eigen::all);
        const Eigen::MatrixXd means = block_means(here, measures(steps[b], Eigen::all));
        if (means.size() > 0) blocks.push_back({static_cast<int>(b), means, here.colwise().sum()});
    }
    return blocks;
}

Eigen::VectorXd mean_steps(const std::vector<BlockMeans>& blocks)
{
    const Eigen::Index treatments = blocks.front().mean_ms.rows();
    Eigen::VectorXd means(treatments);
    for (Eigen::Index t = 0; t < treatments; ++t)
        means[t] = pooled(blocks, Eigen::VectorXd::Unit(treatments, t), 0).value;
    return means;
}

}  // namespace

Pooled pooled(const std::vector<BlockMeans>& blocks, const Eigen::VectorXd& weights, Eigen::Index measure)
{
    const auto count = static_cast<double>(blocks.size());
    Eigen::VectorXd work = Eigen::VectorXd::Zero(weights.size());
    Eigen::VectorXd time = work;
    for (const BlockMeans& block : blocks) {
        work += block.work;
        time += block.work.cwiseProduct(block.mean_ms.col(measure));
    }
    const Eigen::VectorXd means = time.cwiseQuotient(work);
    Pooled pooled{weights.dot(means), Eigen::VectorXd(static_cast<Eigen::Index>(blocks.size()))};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const Eigen::VectorXd share = blocks[b].work.cwiseQuotient(work) * count;
        pooled.influence[static_cast<Eigen::Index>(b)] =
            weights.dot(share.cwiseProduct(blocks[b].mean_ms.col(measure) - means));
    }
    return pooled;
}

Eigen::MatrixXd time_shares(std::span<const Overlaps> overlaps, std::span<const std::size_t> labels,
                            std::size_t treatments)
{
    const auto steps = static_cast<Eigen::Index>(overlaps.size());
    Eigen::MatrixXd shares = Eigen::MatrixXd::Zero(steps, static_cast<Eigen::Index>(treatments));
    for (Eigen::Index i = 0; i < steps; ++i)
        for (const Overlap& overlap : overlaps[static_cast<std::size_t>(i)])
            shares(i, static_cast<Eigen::Index>(labels[overlap.slot])) += overlap.share;
    return shares;
}

Eigen::MatrixXd work_shares(const Eigen::MatrixXd& time_shares, const Eigen::VectorXd& mean_ms)
{
    // A mean near or below zero can only come from noise; it must not turn shares around.
    const Eigen::VectorXd speed = mean_ms.cwiseMax(mean_ms.maxCoeff() * 1e-3).cwiseInverse();
    Eigen::MatrixXd work = time_shares * speed.asDiagonal();
    for (Eigen::Index i = 0; i < work.rows(); ++i)
        if (const double sum = work.row(i).sum(); sum > 0.0) work.row(i) /= sum;
    return work;
}

Eigen::MatrixXd block_means(const Eigen::MatrixXd& shares, const Eigen::MatrixXd& measures)
{
    if (shares.rows() < shares.cols() || shares.colwise().sum().minCoeff() < least_steps) return {};
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver{shares};
    if (solver.rank() < shares.cols()) return {};
    return solver.solve(measures);
}

std::vector<std::vector<Eigen::Index>> steps_by_block(std::span<const int> block, int blocks)
{
    std::vector<std::vector<Eigen::Index>> steps(static_cast<std::size_t>(blocks));
    for (std::size_t i = 0; i < block.size(); ++i)
        if (block[i] >= 0) steps[static_cast<std::size_t>(block[i])].push_back(static_cast<Eigen::Index>(i));
    return steps;
}

Fit fit(std::span<const Overlaps> overlaps, std::span<const int> block, const Eigen::MatrixXd& measures,
        const Experiment& plan)
{
    const Eigen::MatrixXd time = time_shares(overlaps, plan.treatment_of, plan.treatments.size());
    const std::vector<std::vector<Eigen::Index>> steps = steps_by_block(block, plan.blocks);
    Fit fit;
    Eigen::MatrixXd shares = time;
    for (int round = 0; round < rounds; ++round) {
        const std::vector<BlockMeans> rough = fit_blocks(shares, measures.col(0), steps);
        if (rough.empty()) break;
        fit.mean_ms = mean_steps(rough);
        shares = work_shares(time, fit.mean_ms);
    }
    fit.blocks = fit_blocks(shares, measures, steps);
    fit.dropped = plan.blocks - static_cast<int>(fit.blocks.size());
    return fit;
}

}  // namespace analysis
