#include "analysis/estimate/rerandomise.hpp"

#include "base/random.hpp"
#include "base/system/stop.hpp"

#include <algorithm>

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

// Work shares by slot, with one mean for treatments that the null hypothesis holds equal: no exchange changes them.
std::vector<Overlaps> slot_work(const Contrast& contrast, const Eigen::VectorXd& mean_ms,
                                std::span<const Overlaps> overlaps, const Experiment& plan)
{
    Eigen::VectorXd pooled = mean_ms;
    for (const auto& [with, without] : contrast.exchangeable) {
        const auto a = static_cast<Eigen::Index>(with);
        const auto b = static_cast<Eigen::Index>(without);
        pooled[a] = pooled[b] = (mean_ms[a] + mean_ms[b]) / 2.0;
    }
    std::vector<Overlaps> work{overlaps.begin(), overlaps.end()};
    for (Overlaps& step : work) {
        double sum = 0.0;
        for (Overlap& overlap : step) {
            overlap.share /= pooled[static_cast<Eigen::Index>(plan.treatment_of[overlap.slot])];
            sum += overlap.share;
        }
        for (Overlap& overlap : step) overlap.share /= sum;
    }
    return work;
}

// A block's effects, orders x measures; the first row is as assigned.
Eigen::MatrixXd effects_by_order(const Contrast& contrast, const std::vector<Labels>& orders,
                                 std::span<const Overlaps> work, const std::vector<Eigen::Index>& steps,
                                 const Eigen::MatrixXd& measures, std::size_t treatments)
{
    std::vector<Overlaps> here;
    for (const Eigen::Index step : steps) here.push_back(work[static_cast<std::size_t>(step)]);
    const Eigen::MatrixXd values = measures(steps, Eigen::all);
    Eigen::MatrixXd effects(static_cast<Eigen::Index>(orders.size()), measures.cols());
    Eigen::Index rows = 0;
    for (const Labels& labels : orders) {
        const Eigen::MatrixXd means = block_means(time_shares(here, labels, treatments), values);
        if (means.size() > 0) effects.row(rows++) = contrast.weights.transpose() * means;
    }
    effects.conservativeResize(rows, Eigen::NoChange);
    return effects;
}

}  // namespace

Eigen::VectorXd rerandomised_p(const Contrast& contrast, const Fit& fit, std::span<const Overlaps> overlaps,
                               std::span<const int> block, const Eigen::MatrixXd& measures, const Experiment& plan,
                               const Draws& draws)
{
    if (draws.count == 0) return Eigen::VectorXd::Ones(measures.cols());
    base::Random random{draws.seed};
    const std::vector<Overlaps> work = slot_work(contrast, fit.mean_ms, overlaps, plan);
    const std::vector<std::vector<Eigen::Index>> steps = steps_by_block(block, plan.blocks);
    std::vector<Eigen::MatrixXd> blocks;
    for (const BlockMeans& kept : fit.blocks) {
        const std::vector<Labels> possible =
            orders(exchangeable(contrast, kept.block, plan), plan.treatment_of, random);
        // Transposed: a draw reads one column.
        Eigen::MatrixXd effects =
            effects_by_order(contrast, possible, work, steps[static_cast<std::size_t>(kept.block)], measures,
                             plan.treatments.size())
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
