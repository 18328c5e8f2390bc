// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/estimator.hpp"

#include "analysis/estimate/block_means.hpp"
#include "analysis/estimate/lasting.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr int rounds = 4;  // iterations of work shares; three suffice for effects from 0 to 100 %

// The work shares of steps; before any mean is known, their time shares.
struct Shares {
    const StepOverlaps& shares;
    const Experiment& plan;
    Eigen::VectorXd mean_ms{};

    Eigen::MatrixXd of(const std::vector<Eigen::Index>& steps) const
    {
        const Eigen::MatrixXd time = time_shares(shares, steps, plan.treatment_of, plan.treatments.size());
        return mean_ms.size() == 0 ? time : work_shares(time, mean_ms);
    }
};

void add_normal_equations(Fit& fit, const Shares& shares, const Measures& measures, Eigen::Index count,
                          const StepsByBlock& steps, const StepsOf& of)
{
    const auto treatments = static_cast<Eigen::Index>(shares.plan.treatments.size());
    fit.blocks.clear();
    fit.work = Eigen::VectorXd::Zero(treatments);
    for (int b = 0; b < shares.plan.blocks; ++b) {
        BlockSums sums{b,
                       Eigen::MatrixXd::Zero(treatments, treatments),
                       Eigen::MatrixXd::Zero(treatments, count),
                       Eigen::MatrixXd::Zero(treatments, count),
                       {}};
        bool any = false;
        steps.each_chunk(b, [&](const std::vector<Eigen::Index>& some) {
            const Eigen::MatrixXd work = shares.of(some);
            fit.work += work.colwise().sum().transpose();
            Eigen::VectorXd weight(work.rows());
            for (std::size_t i = 0; i < some.size(); ++i) {
                const auto step = static_cast<std::size_t>(some[i]);
                weight[static_cast<Eigen::Index>(i)] =
                    of.long_steps.kind[step] == LongSteps::ordinary ? weight_of(of.exposures, step) : 0.0;
            }
            sums.gram += work.transpose() * weight.asDiagonal() * work;
            sums.time += work.transpose() * weight.asDiagonal() * measures.of(some, count);
            any = true;
        });
        if (any) fit.blocks.push_back(std::move(sums));
    }
}

// The measures of an ordinary step with these shares of treatments.
Eigen::RowVectorXd ordinary_step(const Overlaps& shares, const Eigen::MatrixXd& mean_ms, const Experiment& plan)
{
    Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(mean_ms.cols());
    double sum = 0.0;
    for (const Overlap& overlap : shares) {
        const auto treatment = static_cast<Eigen::Index>(treatment_of(overlap, plan.treatment_of));
        const double work = overlap.share / mean_ms(treatment, 0);
        mean += work * mean_ms.row(treatment);
        sum += work;
    }
    return mean / sum;
}

// Adds the excess of long steps over an ordinary step, for each measure, so that it counts for the phases that are
// long.
void add_long_steps(Fit& fit, const Series& series, const StepsOf& of)
{
    const LongSteps& steps = of.long_steps;
    const Eigen::Index treatments = fit.treatments();
    const Eigen::Index measures = fit.mean_ms.cols();
    for (const StepStratum& stratum : steps.strata) fit.strata.push_back(no_sums(stratum, steps, measures));
    fit.accidents = Eigen::MatrixXd::Zero(treatments, measures);
    fit.accident_squares = fit.accidents;
    fit.largest_accident = Eigen::VectorXd::Zero(treatments);
    std::vector<std::vector<Straddling>> straddling(fit.strata.size());
    std::vector<BlockSums*> by_block(static_cast<std::size_t>(of.plan.blocks), nullptr);
    for (BlockSums& sums : fit.blocks) by_block[static_cast<std::size_t>(sums.block)] = &sums;
    Eigen::RowVectorXd values(measures);
    for (std::size_t i = 0; i < of.block.size(); ++i) {
        if (of.block[i] < 0 || steps.kind[i] == LongSteps::ordinary) continue;
        series.measures.fill(i, {values.data(), static_cast<std::size_t>(measures)});
        const Eigen::RowVectorXd beyond = values - ordinary_step(series.shares[i], fit.mean_ms, of.plan);
        const auto under = static_cast<Eigen::Index>(treatment_of(of.exposures, of.plan, i));
        if (steps.kind[i] == LongSteps::accident) {
            by_block[static_cast<std::size_t>(of.block[i])]->accidents.row(under) += beyond;
            fit.accident_squares.row(under) += beyond.cwiseAbs2();
            fit.largest_accident[under] = std::max(fit.largest_accident[under], beyond[0]);
        } else {
            const int stratum = steps.kind[i];
            const auto index = static_cast<std::size_t>(stratum);
            if (steps.strata[index].straddles) straddling[index].push_back({met(of.exposures.job[i], of.plan), beyond});
            fit.strata[index].add(static_cast<std::size_t>(of.exposures.slot[i]), under, beyond);
        }
    }
    fit.strata_met = fit.strata;
    for (std::size_t s = 0; s < straddling.size(); ++s) {
        if (straddling[s].empty()) continue;
        fit.strata_met[s] = share_work(no_sums(steps.strata[s], steps, measures), straddling[s], fit.mean_ms.col(0));
        if (steps.strata[s].spans_slots) fit.strata[s] = that_explains_more(fit.strata[s], fit.strata_met[s]);
    }
    double without_noise = 0.0;
    for (Eigen::Index t = 0; t < treatments; ++t)
        if (is_without_noise(of.plan.treatments[static_cast<std::size_t>(t)]))
            without_noise = std::max(without_noise, fit.largest_accident[t]);
    fit.largest_accident = fit.largest_accident.cwiseMax(without_noise);
    const auto blocks = static_cast<double>(fit.blocks.size());
    Eigen::MatrixXd squares = fit.accidents;
    for (const BlockSums& sums : fit.blocks) {
        fit.accidents += sums.accidents;
        squares += sums.accidents.cwiseAbs2();
    }
    if (blocks < 2.0) return;
    const Eigen::MatrixXd over_blocks = (squares - fit.accidents.cwiseAbs2() / blocks) * (blocks / (blocks - 1.0));
    fit.accident_squares = fit.accident_squares.cwiseMax(over_blocks);
}

// [treatment]: accidents' time in ms, divided by the work in steps.
Eigen::VectorXd accident_means(const Fit& fit, Eigen::Index measure)
{
    return fit.accidents.col(measure).cwiseQuotient(fit.work);
}

// [treatment]: weights of the contrast minus its ratio to quiet times quiet, whose spread is that of the percentage.
Eigen::VectorXd around_ratio(const Eigen::VectorXd& weights, double ratio)
{
    Eigen::VectorXd around = weights;
    around[0] -= ratio;
    return around;
}

Eigen::VectorXd only_quiet(const Fit& fit)
{
    return Eigen::VectorXd::Unit(fit.treatments(), 0);
}

}  // namespace

Eigen::MatrixXd time_shares(const StepOverlaps& shares, std::span<const Eigen::Index> steps,
                            std::span<const std::size_t> labels, std::size_t treatments)
{
    const auto count = static_cast<Eigen::Index>(steps.size());
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(count, static_cast<Eigen::Index>(treatments));
    for (Eigen::Index i = 0; i < count; ++i)
        for (const Overlap& overlap : shares[static_cast<std::size_t>(steps[static_cast<std::size_t>(i)])])
            all(i, static_cast<Eigen::Index>(treatment_of(overlap, labels))) += overlap.share;
    return all;
}

Eigen::MatrixXd work_shares(const Eigen::MatrixXd& time_shares, const Eigen::VectorXd& mean_ms)
{
    // A mean near or below zero comes from random variation; it must not make shares negative.
    const Eigen::VectorXd speed = mean_ms.cwiseMax(mean_ms.maxCoeff() * 1e-3).cwiseInverse();
    Eigen::MatrixXd work = time_shares * speed.asDiagonal();
    for (Eigen::Index i = 0; i < work.rows(); ++i)
        if (const double sum = work.row(i).sum(); sum > 0.0) work.row(i) /= sum;
    return work;
}

Combination combination(const Fit& fit, const Eigen::VectorXd& weights, const std::vector<Assigned>& lasting)
{
    if (!fit.lasting || lasting.empty()) return weights;
    Combination all = with_carry_over(fit, weights);
    for (std::size_t n = 0; n < fit.lasting->noises.size(); ++n)
        if (std::find(lasting.begin(), lasting.end(), fit.lasting->noises[n]) == lasting.end())
            all.carried[static_cast<Eigen::Index>(n)] = 0.0;
    return all;
}

Combination with_carry_over(const Fit& fit, const Eigen::VectorXd& weights)
{
    if (!fit.lasting) return weights;
    return {weights, fit.lasting->of_treatment.transpose() * weights};
}

Estimate estimate(const Fit& fit, const Combination& weights, Eigen::Index measure, bool with_accidents)
{
    const Eigen::VectorXd& of = weights.treatments;
    Estimate found;
    found.influence.resize(static_cast<Eigen::Index>(fit.blocks.size()));
    if (weights.carried.size() > 0) {
        const Lasting& lasting = *fit.lasting;
        found.value = of.dot(lasting.mean_ms.col(measure)) + weights.carried.dot(lasting.carried_ms.col(measure));
        Eigen::VectorXd both(of.size() + weights.carried.size());
        both << of, weights.carried;
        for (std::size_t b = 0; b < fit.blocks.size(); ++b)
            found.influence[static_cast<Eigen::Index>(b)] = both.dot(lasting.influence[b].col(measure));
    } else {
        found.value = of.dot(fit.mean_ms.col(measure));
        for (std::size_t b = 0; b < fit.blocks.size(); ++b)
            found.influence[static_cast<Eigen::Index>(b)] = of.dot(fit.blocks[b].influence.col(measure));
    }
    std::vector<base::VarianceTerm> strata;
    for (const StratumSums& stratum : weights.strata_met ? fit.strata_met : fit.strata) {
        bool lacks = false;
        for (Eigen::Index t = 0; t < of.size(); ++t) lacks = lacks || (of[t] != 0.0 && stratum.count[t] == 0.0);
        found.lacks_a_stratum = found.lacks_a_stratum || lacks;
        // Such a stratum is skipped, unless shares are as counted and it has no period: its share there is then 0.
        if (lacks && !(weights.strata_counted && stratum.counted.size() > 1)) continue;
        const StratumMean mean = mean_of(stratum, measure);
        double variance = 0.0;
        for (const StratumShare& share : weights.strata_counted ? stratum.counted : stratum.assumed) {
            double at_once = 0.0;  // change of the value in ms if this share were higher by one
            for (const std::size_t treatment : share.treatments) {
                const auto t = static_cast<Eigen::Index>(treatment);
                at_once += of[t] * mean.mean[t];
                variance += of[t] * of[t] * share.value * share.value * mean.variance[t];
            }
            found.value += share.value * at_once;
            variance += share.variance() * at_once * at_once;
        }
        found.variance += variance;
        strata.push_back({variance, mean.degrees_of_freedom});
    }
    if (found.variance > 0.0) found.degrees_of_freedom = base::joint_degrees_of_freedom(strata);
    if (with_accidents) found.value += of.dot(accident_means(fit, measure));
    return found;
}

double quiet_step_ms(const Fit& fit, bool with_accidents)
{
    return estimate(fit, only_quiet(fit), 0, with_accidents).value;
}

Mean percent_of_quiet(const Fit& fit, const Combination& weights, Eigen::Index measure, bool with_accidents)
{
    const Estimate difference = estimate(fit, weights, measure, with_accidents);
    const Estimate quiet = estimate(fit, weights.only(only_quiet(fit)), 0, with_accidents);
    const double ratio = difference.value / quiet.value;
    const double to_percent = 100.0 / quiet.value;
    const Mean blocks = mean_of(Eigen::VectorXd{to_percent * (difference.influence - ratio * quiet.influence)});
    const bool of_step = measure == 0;
    const Eigen::VectorXd around = of_step ? around_ratio(weights.treatments, ratio) : weights.treatments;
    const Estimate strata = of_step ? estimate(fit, weights.only(around), 0, with_accidents) : difference;
    double of_blocks = blocks.standard_error * blocks.standard_error;
    const double of_strata =
        to_percent * to_percent * (strata.variance + (of_step ? 0.0 : ratio * ratio * quiet.variance));
    Mean percent{100.0 * ratio, std::sqrt(of_blocks + of_strata), blocks.degrees_of_freedom};
    if (of_strata > 0.0)
        percent.degrees_of_freedom = base::joint_degrees_of_freedom(
            {{of_blocks, blocks.degrees_of_freedom}, {of_strata, std::max(1.0, strata.degrees_of_freedom)}});
    if (!with_accidents) return percent;
    double of_accidents = 0.0;
    for (Eigen::Index t = 0; t < around.size(); ++t) {
        const double scale = to_percent * around[t] / fit.work[t];
        of_accidents += scale * scale * fit.accident_squares(t, measure);
        if (!of_step || around[t] == 0.0) continue;
        base::RareEvents& events = scale > 0.0 ? percent.more : percent.fewer;
        events.add({std::abs(scale) * fit.accidents(t, 0), scale * scale * fit.accident_squares(t, 0),
                    std::abs(scale) * fit.largest_accident[t]});
    }
    percent.standard_error = std::sqrt(percent.standard_error * percent.standard_error + of_accidents);
    return percent;
}

Eigen::VectorXd percent_influence(const Fit& fit, const Combination& weights, Eigen::Index measure, bool with_accidents)
{
    const Estimate difference = estimate(fit, weights, measure, with_accidents);
    const Estimate quiet = estimate(fit, weights.only(only_quiet(fit)), 0, with_accidents);
    const double ratio = difference.value / quiet.value;
    Eigen::VectorXd all = difference.influence - ratio * quiet.influence;
    if (with_accidents) {
        const Eigen::VectorXd around =
            around_ratio(weights.treatments, measure == 0 ? ratio : 0.0).cwiseQuotient(fit.work);
        const auto count = static_cast<double>(fit.blocks.size());
        const double mean = around.dot(fit.accidents.col(measure)) / count;
        for (std::size_t b = 0; b < fit.blocks.size(); ++b)
            all[static_cast<Eigen::Index>(b)] += count * (around.dot(fit.blocks[b].accidents.col(measure)) - mean);
    }
    return 100.0 / quiet.value * all;
}

Fit fit(const Series& series, const StepsOf& steps)
{
    const StepsByBlock by_block{steps.block, steps.plan.blocks};
    Fit found;
    Shares shares{series.shares, steps.plan};
    for (int round = 0; round < rounds; ++round) {
        const bool last = round + 1 == rounds;
        add_normal_equations(found, shares, series.measures, last ? series.measures.cols() : 1, by_block, steps);
        solve_means(found, steps.plan);
        shares.mean_ms = found.mean_ms.col(0);
    }
    add_long_steps(found, series, steps);
    if (steps.plan.randomised()) found.lasting = lasting_of(found, series, steps, steps.windows);
    return found;
}

}  // namespace analysis
