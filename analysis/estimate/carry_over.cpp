#include "analysis/estimate/carry_over.hpp"

#include "base/random.hpp"
#include "base/system/stop.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace analysis {

namespace {

// By slot: the work of its steps, and their mean.
struct SlotMeans {
    Eigen::VectorXd work;
    Eigen::VectorXd mean_ms;
};

SlotMeans means_by_slot(const Series& series, const StepsOf& steps, const Fit& fit)
{
    const auto slots = static_cast<Eigen::Index>(steps.plan.treatment_of.size());
    SlotMeans found{Eigen::VectorXd::Zero(slots), Eigen::VectorXd::Zero(slots)};
    for (std::size_t i = 0; i < steps.block.size(); ++i) {
        if (steps.block[i] < 0 || steps.long_steps.kind[i] != LongSteps::ordinary) continue;
        const double ms = series.measures.first(i);
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

// Least squares over slots, weighted by their work, with a mean for each block: residuals of a column under all the
// others.
class SlotModel {
 public:
    SlotModel(const StepsOf& steps, const SlotMeans& slots, const std::vector<Assigned>& noises)
        : plan_{steps.plan}, root_{slots.work.cwiseSqrt()}
    {
        const auto treatments = static_cast<Eigen::Index>(plan_.treatments.size());
        columns_ = Eigen::MatrixXd::Zero(root_.size(), treatments - 1 + static_cast<Eigen::Index>(noises.size()));
        for (std::size_t s = 0; s < plan_.treatment_of.size(); ++s) {
            const auto row = static_cast<Eigen::Index>(s);
            if (plan_.treatment_of[s] > 0) columns_(row, static_cast<Eigen::Index>(plan_.treatment_of[s]) - 1) = 1.0;
            for (std::size_t n = 0; s > 0 && n < noises.size(); ++n) {
                const std::vector<Assigned>& before = plan_.treatments[plan_.treatment_of[s - 1]].on;
                if (std::find(before.begin(), before.end(), noises[n]) != before.end())
                    columns_(row, treatments - 1 + static_cast<Eigen::Index>(n)) = 1.0;
            }
        }
        for (Eigen::Index c = 0; c < columns_.cols(); ++c) columns_.col(c) = scaled(columns_.col(c));
        time_ = scaled(slots.mean_ms);
    }

    // p of one carry-over column, by exchange of residuals within blocks.
    double p(Eigen::Index noise, const Draws& draws) const
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
        const double assigned = std::abs(left.dot(column));
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
            if (std::abs(sum) >= assigned * (1.0 - 1e-9)) ++as_large;
        }
        return static_cast<double>(as_large) / (draws.count + 1.0);
    }

 private:
    // Less its mean in the block, times the root of the weight.
    Eigen::VectorXd scaled(const Eigen::VectorXd& values) const
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

    const Experiment& plan_;
    Eigen::VectorXd root_;
    Eigen::MatrixXd columns_;
    Eigen::VectorXd time_;
};

std::int64_t steps_after(const Assigned& noise, const StepsOf& steps)
{
    std::int64_t count = 0;
    for (std::size_t i = 0; i < steps.block.size(); ++i) {
        if (steps.block[i] < 0 || steps.exposures.slot[i] < 1) continue;
        const auto before = static_cast<std::size_t>(steps.exposures.slot[i]) - 1;
        const std::vector<Assigned>& on = steps.plan.treatments[steps.plan.treatment_of[before]].on;
        if (std::find(on.begin(), on.end(), noise) != on.end()) ++count;
    }
    return count;
}

}  // namespace

std::vector<CarryOver> carry_over(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws,
                                  bool looked)
{
    if (!fit.lasting) return {};
    const std::vector<Assigned>& noises = fit.lasting->noises;
    const Eigen::VectorXd no_treatment = Eigen::VectorXd::Zero(fit.treatments());
    const SlotMeans slots = means_by_slot(series, steps, fit);
    const SlotModel model{steps, slots, noises};
    std::vector<CarryOver> all;
    std::vector<double> p;
    for (std::size_t n = 0; n < noises.size(); ++n) {
        const auto noise = static_cast<Eigen::Index>(n);
        const Combination only_carried{no_treatment,
                                       Eigen::VectorXd::Unit(static_cast<Eigen::Index>(noises.size()), noise)};
        CarryOver& found = all.emplace_back();
        found.factor = noises[n].factor;
        found.level = noises[n].level;
        found.stressor = noises[n].stressor;
        found.role = noises[n].role;
        found.percent = percent_of_quiet(fit, only_carried, 0, false);
        found.percent.looked_at = looked;
        found.p = draws.count > 0 && !looked ? model.p(noise, draws) : found.percent.p_value();
        found.steps = steps_after(noises[n], steps);
        p.push_back(found.p);
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t n = 0; n < all.size(); ++n) all[n].p_holm = adjusted[n];
    for (CarryOver& one : all) {
        const auto any_level = [&](double at_most) {
            return std::any_of(all.begin(), all.end(), [&](const CarryOver& level) {
                return level.factor == one.factor && level.p_holm <= at_most;
            });
        };
        one.counted = any_level(significant_carry_over);
        one.surely = any_level(sure_carry_over);
    }
    return all;
}

}  // namespace analysis
