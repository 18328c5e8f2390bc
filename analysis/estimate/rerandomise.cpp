#include "analysis/estimate/rerandomise.hpp"

#include "base/random.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace analysis {

namespace {

using Labels = std::vector<std::size_t>;  // by slot

constexpr double most_orders = 256;  // of a block; beyond, that many are sampled

// Positions in a block whose labels may be exchanged, and those labels in order.
struct Exchangeable {
    std::vector<std::size_t> slots;
    Labels labels;
};

std::vector<Exchangeable> exchangeable(const Contrast& contrast, int block, const Experiment& plan)
{
    std::vector<Exchangeable> groups;
    for (const auto& [with, without] : contrast.exchangeable) {
        Exchangeable& group = groups.emplace_back();
        for (std::size_t slot = 0; slot < plan.block_of.size(); ++slot) {
            const std::size_t label = plan.treatment_of[slot];
            if (plan.block_of[slot] != block || (label != with && label != without)) continue;
            group.slots.push_back(slot);
            group.labels.push_back(label);
        }
    }
    return groups;
}

double orders_of(const Exchangeable& group)
{
    const auto size = static_cast<double>(group.labels.size());
    const auto first = static_cast<double>(std::count(group.labels.begin(), group.labels.end(), group.labels.front()));
    double orders = 1.0;
    for (double i = 1.0; i <= first; ++i) orders *= (size - first + i) / i;
    return orders;
}

void put(Labels& labels, const Exchangeable& group, const Labels& order)
{
    for (std::size_t i = 0; i < group.slots.size(); ++i) labels[group.slots[i]] = order[i];
}

// All orders of the block's labels that the design could have drawn, as assigned first; a sample if there are too many.
std::vector<Labels> orders(const std::vector<Exchangeable>& groups, const Labels& assigned, base::Random& random)
{
    double count = 1.0;
    for (const Exchangeable& group : groups)
        if (!group.slots.empty()) count *= orders_of(group);
    std::vector<Labels> all{assigned};
    if (count > most_orders) {
        while (static_cast<double>(all.size()) < most_orders) {
            Labels& labels = all.emplace_back(assigned);
            for (const Exchangeable& group : groups) {
                Labels order = group.labels;
                base::shuffle(random, std::span{order});
                put(labels, group, order);
            }
        }
        return all;
    }
    for (const Exchangeable& group : groups) {
        const std::size_t before = all.size();
        Labels order = group.labels;
        std::sort(order.begin(), order.end());
        do {
            if (order == group.labels) continue;
            for (std::size_t i = 0; i < before; ++i) {
                Labels labels = all[i];
                put(labels, group, order);
                all.push_back(std::move(labels));
            }
        } while (std::next_permutation(order.begin(), order.end()));
    }
    return all;
}

// A step's work shares by slot, with one mean for treatments that the null hypothesis holds equal: no exchange changes
// them.
class SlotWork {
 public:
    SlotWork(const Contrast& contrast, const Eigen::VectorXd& mean_ms, const StepOverlaps& overlaps,
             const Experiment& plan)
        : pooled_ms_{mean_ms}, overlaps_{overlaps}, plan_{plan}
    {
        for (const auto& [with, without] : contrast.exchangeable) {
            const auto a = static_cast<Eigen::Index>(with);
            const auto b = static_cast<Eigen::Index>(without);
            pooled_ms_[a] = pooled_ms_[b] = (mean_ms[a] + mean_ms[b]) / 2.0;
        }
    }

    Overlaps of(std::size_t step) const
    {
        Overlaps work = overlaps_[step];
        double sum = 0.0;
        for (Overlap& overlap : work) {
            overlap.share /= pooled_ms_[static_cast<Eigen::Index>(plan_.treatment_of[overlap.slot])];
            sum += overlap.share;
        }
        for (Overlap& overlap : work) overlap.share /= sum;
        return work;
    }

 private:
    Eigen::VectorXd pooled_ms_;
    const StepOverlaps& overlaps_;
    const Experiment& plan_;
};

// A block's means by treatment for labels of its slots; empty if they cannot be had.
using MeansBy = std::function<Eigen::MatrixXd(const Labels& labels)>;

// From the block's steps, all of which are in memory.
MeansBy means_of_steps(const SlotWork& work, const std::vector<Eigen::Index>& steps, const Measures& measures,
                       std::size_t treatments)
{
    std::vector<Overlaps> here;
    std::vector<Eigen::Index> places;
    for (const Eigen::Index step : steps) {
        places.push_back(static_cast<Eigen::Index>(here.size()));
        here.push_back(work.of(static_cast<std::size_t>(step)));
    }
    return [here = StepOverlaps{std::move(here)}, places = std::move(places),
            values = measures.of(steps, measures.cols()), treatments](const Labels& labels) {
        return block_means(time_shares(here, places, labels, treatments), values);
    };
}

// The normal equations of a block's steps by slot, from which those by treatment follow for any labels of the slots.
struct SlotSums {
    std::vector<std::size_t> slots;  // that its steps lie in
    Eigen::MatrixXd squares;         // slots x slots: sums of products of work shares
    Eigen::MatrixXd products;        // slots x measures: of work shares and measures
    Eigen::VectorXd work;            // [slot]
    std::size_t steps = 0;
};

SlotSums sums_by_slot(const SlotWork& work, const StepsByBlock& steps, int block, const Measures& measures)
{
    SlotSums sums;
    std::set<std::size_t> slots;
    steps.each(block, [&](std::size_t step) {
        for (const Overlap& overlap : work.of(step)) slots.insert(overlap.slot);
        ++sums.steps;
    });
    sums.slots.assign(slots.begin(), slots.end());
    const auto count = static_cast<Eigen::Index>(slots.size());
    sums.squares = Eigen::MatrixXd::Zero(count, count);
    sums.products = Eigen::MatrixXd::Zero(count, measures.cols());
    sums.work = Eigen::VectorXd::Zero(count);
    Eigen::RowVectorXd values(measures.cols());
    steps.each(block, [&](std::size_t step) {
        measures.fill(step, {values.data(), static_cast<std::size_t>(values.size())});
        const Overlaps shares = work.of(step);
        const auto place = [&](const Overlap& overlap) {
            return std::lower_bound(sums.slots.begin(), sums.slots.end(), overlap.slot) - sums.slots.begin();
        };
        for (const Overlap& a : shares) {
            const Eigen::Index at = place(a);
            for (const Overlap& b : shares) sums.squares(at, place(b)) += a.share * b.share;
            sums.products.row(at) += a.share * values;
            sums.work[at] += a.share;
        }
    });
    return sums;
}

// As means_of_steps(), up to rounding.
Eigen::MatrixXd means_by(const Labels& labels, const SlotSums& sums, std::size_t treatments)
{
    constexpr double dependent = 1e-10;  // a smaller share of the largest pivot
    const auto count = static_cast<Eigen::Index>(treatments);
    Eigen::MatrixXd under = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(sums.slots.size()), count);
    for (std::size_t s = 0; s < sums.slots.size(); ++s)
        under(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(labels[sums.slots[s]])) = 1.0;
    if (sums.steps < treatments || (under.transpose() * sums.work).minCoeff() < least_work_of_block) return {};
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver;
    solver.setThreshold(dependent);
    solver.compute(under.transpose() * sums.squares * under);
    if (solver.rank() < count) return {};
    return solver.solve(under.transpose() * sums.products);
}

MeansBy means_of_block(const SlotWork& work, const StepsByBlock& steps, int block, const Measures& measures,
                       std::size_t treatments)
{
    constexpr std::size_t most_steps = 4096;  // that are worth keeping for up to 256 orders
    std::vector<Eigen::Index> some;
    std::size_t count = 0;
    steps.each(block, [&](std::size_t step) {
        if (++count <= most_steps) some.push_back(static_cast<Eigen::Index>(step));
    });
    if (count <= most_steps) return means_of_steps(work, some, measures, treatments);
    return [sums = sums_by_slot(work, steps, block, measures), treatments](const Labels& labels) {
        return means_by(labels, sums, treatments);
    };
}

// A block's effects, orders x measures; the first row is as assigned.
Eigen::MatrixXd effects_by_order(const Contrast& contrast, const std::vector<Labels>& orders, const MeansBy& means_by,
                                 Eigen::Index measures)
{
    Eigen::MatrixXd effects(static_cast<Eigen::Index>(orders.size()), measures);
    Eigen::Index rows = 0;
    for (const Labels& labels : orders) {
        otf2::getting_on();
        const Eigen::MatrixXd means = means_by(labels);
        if (means.size() > 0) effects.row(rows++) = contrast.weights.transpose() * means;
    }
    effects.conservativeResize(rows, Eigen::NoChange);
    return effects;
}

}  // namespace

Eigen::VectorXd rerandomised_p(const Contrast& contrast, const Fit& fit, const StepOverlaps& overlaps,
                               const base::LongColumn<int>& block, const Measures& measures, const Experiment& plan,
                               const Draws& draws)
{
    if (draws.count == 0) return Eigen::VectorXd::Ones(measures.cols());
    base::Random random{draws.seed};
    const SlotWork work{contrast, fit.mean_ms, overlaps, plan};
    const StepsByBlock steps{block, plan.blocks};
    std::vector<Eigen::MatrixXd> blocks;
    for (const BlockMeans& kept : fit.blocks) {
        const std::vector<Labels> possible =
            orders(exchangeable(contrast, kept.block, plan), plan.treatment_of, random);
        // Transposed: a draw reads one column.
        Eigen::MatrixXd effects =
            effects_by_order(contrast, possible,
                             means_of_block(work, steps, kept.block, measures, plan.treatments.size()), measures.cols())
                .transpose();
        if (effects.cols() > 0) blocks.push_back(std::move(effects));
    }
    if (blocks.empty()) return Eigen::VectorXd::Ones(measures.cols());

    Eigen::ArrayXd sum(measures.cols());
    const auto statistic = [&](const auto& order_of) -> Eigen::ArrayXd {
        sum.setZero();
        for (const Eigen::MatrixXd& effects : blocks) sum += effects.col(order_of(effects.cols())).array();
        return sum.abs();
    };
    const Eigen::ArrayXd assigned = statistic([](Eigen::Index) { return Eigen::Index{0}; });
    Eigen::ArrayXd as_large = Eigen::ArrayXd::Ones(measures.cols());  // the order as drawn is one of the possible
    for (int draw = 0; draw < draws.count; ++draw) {
        base::end_if_stopped();
        const Eigen::ArrayXd drawn = statistic([&](Eigen::Index orders) {
            return static_cast<Eigen::Index>(base::draw_below(random, static_cast<std::uint64_t>(orders)));
        });
        as_large += (drawn >= assigned * (1.0 - 1e-9)).cast<double>();
    }
    return as_large / (draws.count + 1.0);
}

Smallest smallest_p(const Contrast& contrast, const Fit& fit, const Experiment& plan, const Draws& draws)
{
    Smallest smallest{1.0 / (draws.count + 1.0), 1.0};
    for (const BlockMeans& kept : fit.blocks)
        for (const Exchangeable& group : exchangeable(contrast, kept.block, plan))
            if (!group.slots.empty()) smallest.by_blocks /= orders_of(group);
    return smallest;
}

}  // namespace analysis
