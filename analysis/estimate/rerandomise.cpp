// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/rerandomise.hpp"

#include "base/random.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <algorithm>

namespace analysis {

namespace {

using Labels = std::vector<std::size_t>;  // [slot]

constexpr double most_orders = 256;  // orders of a block; from more, this many are sampled

// Positions in a block whose labels may be exchanged, and these labels in order.
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

// All orders of the block's labels that the design could have drawn, the assigned one first; a sample if there are too
// many.
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

// Means by treatment and measure under the null hypothesis, by which some treatments have equal means.
struct NullMeans {
    Eigen::MatrixXd regular;              // see Fit::mean_ms
    std::vector<Eigen::MatrixXd> strata;  // [stratum]: mean excess
    Eigen::MatrixXd accidents;            // accidents' time divided by work in steps
};

NullMeans null_means(const Contrast& contrast, const Fit& fit)
{
    NullMeans means{fit.mean_ms, {}, fit.work.cwiseInverse().asDiagonal() * fit.accidents};
    for (const StratumSums& stratum : fit.strata)
        means.strata.emplace_back(stratum.count.cwiseMax(1.0).cwiseInverse().asDiagonal() * stratum.sum);
    const auto make_equal = [](Eigen::MatrixXd& rows, Eigen::Index a, Eigen::Index b, double weight_a,
                               double weight_b) {
        if (weight_a + weight_b <= 0.0) return;
        const Eigen::RowVectorXd mean = (weight_a * rows.row(a) + weight_b * rows.row(b)) / (weight_a + weight_b);
        rows.row(a) = mean;
        rows.row(b) = mean;
    };
    for (const auto& [with, without] : contrast.exchangeable) {
        const auto a = static_cast<Eigen::Index>(with);
        const auto b = static_cast<Eigen::Index>(without);
        make_equal(means.regular, a, b, fit.work[a], fit.work[b]);
        make_equal(means.accidents, a, b, fit.work[a], fit.work[b]);
        for (std::size_t s = 0; s < means.strata.size(); ++s)
            make_equal(means.strata[s], a, b, fit.strata[s].count[a], fit.strata[s].count[b]);
    }
    return means;
}

// Slots x measures: time that a slot's steps took beyond the null hypothesis.
Eigen::MatrixXd scores_by_slot(const NullMeans& means, const Series& series, const StepsOf& steps, bool with_accidents)
{
    const Experiment& plan = steps.plan;
    const LongSteps& long_steps = steps.long_steps;
    const Eigen::Index measures = series.measures.cols();
    Eigen::MatrixXd scores = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(plan.treatment_of.size()), measures);
    Eigen::RowVectorXd values(measures);
    const auto treatment = [&](const Overlap& overlap) {
        return static_cast<Eigen::Index>(treatment_of(overlap, plan.treatment_of));
    };
    for (std::size_t i = 0; i < steps.block.size(); ++i) {
        if (steps.block[i] < 0) continue;
        otf2::getting_on();
        series.measures.fill(i, {values.data(), static_cast<std::size_t>(measures)});
        Overlaps work = series.shares[i];
        double sum = 0.0;
        for (Overlap& overlap : work) sum += overlap.share /= means.regular(treatment(overlap), 0);
        Eigen::RowVectorXd beyond_null = values;
        for (Overlap& overlap : work) {
            overlap.share /= sum;
            beyond_null -= overlap.share * means.regular.row(treatment(overlap));
            if (with_accidents && !overlap.as_quiet)
                scores.row(static_cast<Eigen::Index>(overlap.slot)) -=
                    overlap.share * means.accidents.row(treatment(overlap));
        }
        const std::int8_t kind = long_steps.kind[i];
        if (kind == LongSteps::ordinary) {
            beyond_null *= weight_of(steps.exposures, i);
            for (const Overlap& overlap : work)
                if (!overlap.as_quiet)
                    scores.row(static_cast<Eigen::Index>(overlap.slot)) += overlap.share * beyond_null;
            continue;
        }
        if (kind == LongSteps::accident && !with_accidents) continue;
        const auto slot = static_cast<std::size_t>(steps.exposures.slot[i]);
        if (kind != LongSteps::accident)
            beyond_null -= means.strata[static_cast<std::size_t>(kind)].row(treatment({slot, 1.0}));
        scores.row(static_cast<Eigen::Index>(slot)) += beyond_null;
    }
    return scores;
}

}  // namespace

Eigen::VectorXd rerandomised_p(const Contrast& contrast, const Fit& fit, const Series& series, const StepsOf& steps,
                               bool with_accidents, const Draws& draws)
{
    const Eigen::Index measures = series.measures.cols();
    if (draws.count == 0) return Eigen::VectorXd::Ones(measures);
    base::Random random{draws.seed};
    const Eigen::MatrixXd scores = scores_by_slot(null_means(contrast, fit), series, steps, with_accidents);
    const Eigen::VectorXd by_work = contrast.weights.cwiseQuotient(fit.work);
    std::vector<Eigen::MatrixXd> blocks;  // measures x orders: a draw reads one column
    for (const BlockSums& kept : fit.blocks) {
        otf2::getting_on();
        const std::vector<Exchangeable> groups = exchangeable(contrast, kept.block, steps.plan);
        const std::vector<Labels> possible = orders(groups, steps.plan.treatment_of, random);
        Eigen::MatrixXd& sums =
            blocks.emplace_back(Eigen::MatrixXd::Zero(measures, static_cast<Eigen::Index>(possible.size())));
        for (std::size_t order = 0; order < possible.size(); ++order)
            for (const Exchangeable& group : groups)
                for (const std::size_t slot : group.slots)
                    sums.col(static_cast<Eigen::Index>(order)) +=
                        by_work[static_cast<Eigen::Index>(possible[order][slot])] *
                        scores.row(static_cast<Eigen::Index>(slot)).transpose();
    }

    Eigen::ArrayXd sum(measures);
    const auto statistic = [&](const auto& order_of) -> Eigen::ArrayXd {
        sum.setZero();
        for (const Eigen::MatrixXd& sums : blocks) sum += sums.col(order_of(sums.cols())).array();
        return sum.abs();
    };
    const Eigen::ArrayXd assigned = statistic([](Eigen::Index) { return Eigen::Index{0}; });
    Eigen::ArrayXd as_large = Eigen::ArrayXd::Ones(measures);  // counts the assigned order as one of the draws
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
    for (const BlockSums& kept : fit.blocks)
        for (const Exchangeable& group : exchangeable(contrast, kept.block, plan))
            if (!group.slots.empty()) smallest.by_blocks /= orders_of(group);
    return smallest;
}

}  // namespace analysis
