#include "analysis/estimate/estimator.hpp"

#include <algorithm>

namespace analysis {

namespace {

constexpr int rounds = 3;

Eigen::MatrixXd solve_means(const Eigen::MatrixXd& shares, const Eigen::MatrixXd& measures, const Eigen::VectorXd& work)
{
    if (shares.rows() < shares.cols() || work.minCoeff() < least_work_of_block) return {};
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver{shares};
    if (solver.rank() < shares.cols()) return {};
    return solver.solve(measures);
}

// Rows of a block: those that came last, and under them what those before were reduced to.
struct Rows {
    Eigen::MatrixXd shares;
    Eigen::MatrixXd measures;
    Eigen::VectorXd work;

    void add(const Eigen::MatrixXd& more_shares, const Eigen::MatrixXd& more_measures)
    {
        const Eigen::VectorXd more_work = more_shares.colwise().sum();
        if (work.size() == 0) {
            shares = more_shares;
            measures = more_measures;
            work = more_work;
            return;
        }
        reduce();
        Eigen::MatrixXd all_shares(shares.rows() + more_shares.rows(), shares.cols());
        all_shares << shares, more_shares;
        shares = std::move(all_shares);
        Eigen::MatrixXd all_measures(measures.rows() + more_measures.rows(), measures.cols());
        all_measures << measures, more_measures;
        measures = std::move(all_measures);
        work += more_work;
    }

 private:
    void reduce()
    {
        const Eigen::Index treatments = shares.cols();
        const Eigen::HouseholderQR<Eigen::MatrixXd> factors{shares};
        measures.applyOnTheLeft(factors.householderQ().adjoint());
        measures = Eigen::MatrixXd{measures.topRows(treatments)};
        shares = factors.matrixQR().topRows(treatments).triangularView<Eigen::Upper>();
    }
};

// The work shares of steps, or their time shares before any mean is known.
struct Shares {
    const StepOverlaps& overlaps;
    const Experiment& plan;
    Eigen::VectorXd mean_ms{};

    Eigen::MatrixXd of(const std::vector<Eigen::Index>& steps) const
    {
        const Eigen::MatrixXd time = time_shares(overlaps, steps, plan.treatment_of, plan.treatments.size());
        return mean_ms.size() == 0 ? time : work_shares(time, mean_ms);
    }
};

std::vector<BlockMeans> fit_blocks(const Shares& shares, const Measures& measures, Eigen::Index count,
                                   const StepsByBlock& steps)
{
    std::vector<BlockMeans> blocks;
    for (int b = 0; b < shares.plan.blocks; ++b) {
        Rows rows;
        steps.each_chunk(
            b, [&](const std::vector<Eigen::Index>& some) { rows.add(shares.of(some), measures.of(some, count)); });
        const Eigen::MatrixXd means = solve_means(rows.shares, rows.measures, rows.work);
        if (means.size() > 0) blocks.push_back({b, means, rows.work});
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

Eigen::MatrixXd time_shares(const StepOverlaps& overlaps, std::span<const Eigen::Index> steps,
                            std::span<const std::size_t> labels, std::size_t treatments)
{
    const auto count = static_cast<Eigen::Index>(steps.size());
    Eigen::MatrixXd shares = Eigen::MatrixXd::Zero(count, static_cast<Eigen::Index>(treatments));
    for (Eigen::Index i = 0; i < count; ++i)
        for (const Overlap& overlap : overlaps[static_cast<std::size_t>(steps[static_cast<std::size_t>(i)])])
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
    return solve_means(shares, measures, shares.colwise().sum());
}

StepsByBlock::StepsByBlock(const base::LongColumn<int>& block, int blocks)
    : block_{block}, spans_(static_cast<std::size_t>(blocks), {block.size(), 0})
{
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        auto& [first, until] = spans_[static_cast<std::size_t>(block[i])];
        first = std::min(first, i);
        until = i + 1;
    }
}

Fit fit(const StepOverlaps& overlaps, const base::LongColumn<int>& block, const Measures& measures,
        const Experiment& plan)
{
    const StepsByBlock steps{block, plan.blocks};
    Fit fit;
    Shares shares{overlaps, plan};
    for (int round = 0; round < rounds; ++round) {
        const std::vector<BlockMeans> rough = fit_blocks(shares, measures, 1, steps);
        if (rough.empty()) break;
        fit.mean_ms = mean_steps(rough);
        shares.mean_ms = fit.mean_ms;
    }
    fit.blocks = fit_blocks(shares, measures, measures.cols(), steps);
    fit.dropped = plan.blocks - static_cast<int>(fit.blocks.size());
    return fit;
}

}  // namespace analysis
