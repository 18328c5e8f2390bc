#include "analysis/estimate/secondary/carry_over.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace analysis {

namespace {

std::vector<Assigned> factors_of(const Experiment& plan)
{
    std::vector<Assigned> all;
    for (const Treatment& treatment : plan.treatments)
        for (const Assigned& on : treatment.on)
            if (std::find(all.begin(), all.end(), on) == all.end()) all.push_back(on);
    return all;
}

// Sums over the steps of a block: what least squares needs.
struct BlockSums {
    double steps = 0.0;
    double time_ms = 0.0;
    Eigen::VectorXd columns;   // sum of each column
    Eigen::MatrixXd squares;   // of the columns around their means in the block
    Eigen::VectorXd products;  // of columns and time likewise
};

class Columns {
 public:
    explicit Columns(const Experiment& plan) : plan_{plan}, factors_{factors_of(plan)} {}

    const std::vector<Assigned>& factors() const { return factors_; }
    Eigen::Index count() const { return static_cast<Eigen::Index>(plan_.treatments.size() - 1 + factors_.size()); }
    Eigen::Index of_carry_over(std::size_t factor) const
    {
        return static_cast<Eigen::Index>(plan_.treatments.size() - 1 + factor);
    }

    // Of a step in that slot, which is not the first.
    Eigen::VectorXd of_slot(std::size_t slot) const
    {
        Eigen::VectorXd row = Eigen::VectorXd::Zero(count());
        const std::size_t treatment = plan_.treatment_of[slot];
        if (treatment > 0) row[static_cast<Eigen::Index>(treatment - 1)] = 1.0;
        for (const Assigned& on : plan_.treatments[plan_.treatment_of[slot - 1]].on)
            row[of_carry_over(
                static_cast<std::size_t>(std::find(factors_.begin(), factors_.end(), on) - factors_.begin()))] = 1.0;
        return row;
    }

 private:
    const Experiment& plan_;
    std::vector<Assigned> factors_;
};

BlockSums no_steps(const Columns& columns)
{
    return {0.0, 0.0, Eigen::VectorXd::Zero(columns.count()), Eigen::MatrixXd::Zero(columns.count(), columns.count()),
            Eigen::VectorXd::Zero(columns.count())};
}

// Of the steps of a block that lie wholly in a slot.
BlockSums sums_of(const DesignedRun& run, const Analysis& analysis, const StepsByBlock& steps, int block,
                  const Columns& columns)
{
    BlockSums sums = no_steps(columns);
    const Measures step_ms = measures_of(run.steps);
    steps.each(block, [&](std::size_t i) {
        const Overlaps overlaps = analysis.exposures.job[i];
        if (overlaps.size() != 1 || overlaps.front().slot == 0) return;
        const Eigen::VectorXd row = columns.of_slot(overlaps.front().slot);
        const double ms = step_ms.first(i);
        sums.steps += 1.0;
        sums.time_ms += ms;
        sums.columns += row;
        sums.squares += row * row.transpose();
        sums.products += ms * row;
    });
    if (sums.steps == 0.0) return sums;
    sums.squares -= sums.columns * sums.columns.transpose() / sums.steps;
    sums.products -= sums.columns * (sums.time_ms / sums.steps);
    return sums;
}

// Carry-over of each factor in percent of the quiet step after quiet; none if the blocks do not separate them.
// `without` is left out.
std::optional<Eigen::VectorXd> solve(const std::vector<BlockSums>& blocks, const Columns& columns, std::size_t without)
{
    BlockSums all = no_steps(columns);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (b == without) continue;
        all.steps += blocks[b].steps;
        all.time_ms += blocks[b].time_ms;
        all.columns += blocks[b].columns;
        all.squares += blocks[b].squares;
        all.products += blocks[b].products;
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver;
    solver.setThreshold(1e-9);
    solver.compute(all.squares);
    if (solver.rank() < all.squares.cols()) return std::nullopt;
    const Eigen::VectorXd found = solver.solve(all.products);
    const double quiet_ms = (all.time_ms - all.columns.dot(found)) / all.steps;
    return 100.0 / quiet_ms * found.tail(static_cast<Eigen::Index>(columns.factors().size()));
}

}  // namespace

std::vector<CarryOver> carry_over(const DesignedRun& run, const Analysis& analysis, bool looked)
{
    const Columns columns{run.plan};
    std::vector<BlockSums> blocks;
    const base::LongColumn<int> used = used_blocks(analysis.exposures, true);
    const StepsByBlock steps{used, run.plan.blocks};
    for (int block = 0; block < run.plan.blocks; ++block) {
        BlockSums sums = sums_of(run, analysis, steps, block, columns);
        if (sums.steps > 0.0) blocks.push_back(std::move(sums));
    }
    if (blocks.size() < 3) return {};
    const std::optional<Eigen::VectorXd> found = solve(blocks, columns, blocks.size());
    if (!found) return {};
    const auto count = static_cast<double>(blocks.size());
    Eigen::MatrixXd left_one_out(found->size(), static_cast<Eigen::Index>(blocks.size()));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const std::optional<Eigen::VectorXd> without = solve(blocks, columns, b);
        if (!without) return {};
        left_one_out.col(static_cast<Eigen::Index>(b)) = *without;
    }
    const Eigen::VectorXd variance =
        (left_one_out.colwise() - left_one_out.rowwise().mean()).rowwise().squaredNorm() * (count - 1.0) / count;

    std::vector<CarryOver> all;
    std::vector<double> p;
    for (std::size_t f = 0; f < columns.factors().size(); ++f) {
        const Assigned& factor = columns.factors()[f];
        const auto at = static_cast<Eigen::Index>(f);
        double carried = 0.0;
        for (const BlockSums& block : blocks) carried += block.columns[columns.of_carry_over(f)];
        all.push_back({factor.factor,
                       factor.level,
                       factor.stressor,
                       factor.role,
                       {(*found)[at], std::sqrt(variance[at]), count - 1.0, looked},
                       1.0,
                       std::llround(carried)});
        p.push_back(all.back().percent.p_value());
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t f = 0; f < all.size(); ++f) all[f].p_holm = adjusted[f];
    return all;
}

}  // namespace analysis
