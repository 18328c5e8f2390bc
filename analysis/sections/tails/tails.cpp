// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/tails/tails.hpp"

#include "base/columns/long_order.hpp"
#include "base/random.hpp"
#include "base/system/stop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace analysis {

namespace {

constexpr double least_beyond = 5.0;  // number of steps beyond a quantile
constexpr int neighbours_of_block = 2;
constexpr std::array<double, 2> quantiles{0.95, 0.99};
constexpr std::array<const char*, 4> names_of_tails{"p95 step", "p99 step", "standard deviation",
                                                    "coefficient of variation"};

struct StepOfBlock {
    double step = 0.0;
    std::size_t block = 0;  // index among the blocks that are used
    auto operator<=>(const StepOfBlock&) const = default;
};

// The relative times of the steps under one treatment.
struct Sample {
    base::LongColumn<StepOfBlock> descending;
    std::vector<std::array<double, 3>> moments;  // [block]: number of steps, their sum, the sum of their squares
};

// [block]: mean quiet step around it; 0 if the block lacks a treatment.
std::vector<double> quiet_around(const Fit& fitted, int blocks)
{
    std::vector<double> own(static_cast<std::size_t>(blocks), 0.0);
    std::vector<double> work = own;
    for (const BlockSums& block : fitted.blocks) {
        own[static_cast<std::size_t>(block.block)] = block.time(0, 0);
        work[static_cast<std::size_t>(block.block)] = block.gram(0, 0);
    }
    std::vector<double> around(own.size(), 0.0);
    for (const BlockSums& block : fitted.blocks) {
        double time = 0.0;
        double steps = 0.0;
        for (int b = std::max(0, block.block - neighbours_of_block);
             b <= std::min(blocks - 1, block.block + neighbours_of_block); ++b) {
            time += own[static_cast<std::size_t>(b)];
            steps += work[static_cast<std::size_t>(b)];
        }
        around[static_cast<std::size_t>(block.block)] = steps > 0.0 ? time / steps : 0.0;
    }
    return around;
}

std::vector<Sample> samples_of(const DesignedRun& run, const Analysis& analysis, const Fit& fitted)
{
    const std::vector<double> quiet = quiet_around(fitted, run.plan.blocks);
    std::vector<std::size_t> place(quiet.size(), 0);
    for (std::size_t b = 0; b < fitted.blocks.size(); ++b) place[static_cast<std::size_t>(fitted.blocks[b].block)] = b;
    std::vector<Sample> samples(run.plan.treatments.size());
    for (Sample& sample : samples) sample.moments.resize(fitted.blocks.size());
    const base::LongColumn<int> used = used_blocks(analysis.exposures);
    const Measures step_ms = measures_of(run.steps);
    for (std::size_t i = 0; i < used.size(); ++i) {
        const auto block = static_cast<std::size_t>(used[i]);
        if (used[i] < 0 || quiet[block] <= 0.0) continue;
        if (analysis.long_steps.kind[i] >= 0) continue;
        const std::size_t treatment = treatment_of(analysis.exposures, run.plan, i);
        const double step = step_ms.first(i) / quiet[block];
        samples[treatment].descending.push_back({step, place[block]});
        std::array<double, 3>& moments = samples[treatment].moments[place[block]];
        moments[0] += 1.0;
        moments[1] += step;
        moments[2] += step * step;
    }
    for (Sample& sample : samples) sample.descending = base::sorted(sample.descending, std::greater<StepOfBlock>{});
    return samples;
}

// p95, p99, standard deviation and coefficient of variation in percent; each block is weighted by its number of
// occurrences in the bootstrap sample.
Eigen::Vector4d tails_of(const Sample& sample, const std::vector<double>& times)
{
    std::array<double, 3> sums{};
    for (std::size_t b = 0; b < times.size(); ++b)
        for (std::size_t m = 0; m < sums.size(); ++m) sums[m] += times[b] * sample.moments[b][m];
    const double mean = sums[1] / sums[0];
    const double deviation = std::sqrt(std::max(0.0, sums[2] / sums[0] - mean * mean));
    Eigen::Vector4d tails{0.0, 0.0, 100.0 * deviation, 100.0 * deviation / mean};
    std::size_t at = 0;
    double beyond = 0.0;
    for (std::size_t q = quantiles.size(); q-- > 0;) {  // the highest quantile first
        const double wanted = (1.0 - quantiles[q]) * sums[0];
        while (at + 1 < sample.descending.size() && beyond + times[sample.descending[at].block] <= wanted)
            beyond += times[sample.descending[at++].block];
        tails[static_cast<Eigen::Index>(q)] = 100.0 * sample.descending[at].step;
    }
    return tails;
}

Eigen::MatrixXd all_tails(const std::vector<Sample>& samples, const std::vector<double>& times)
{
    Eigen::MatrixXd tails(static_cast<Eigen::Index>(samples.size()), 4);
    for (std::size_t t = 0; t < samples.size(); ++t)
        tails.row(static_cast<Eigen::Index>(t)) = tails_of(samples[t], times).transpose();
    return tails;
}

// [block]: number of its occurrences in a bootstrap sample of as many blocks.
std::vector<double> drawn_times(std::size_t blocks, base::Random& random)
{
    std::vector<double> times(blocks, 0.0);
    for (std::size_t b = 0; b < blocks; ++b) times[static_cast<std::size_t>(base::draw_below(random, blocks))] += 1.0;
    return times;
}

bool has_tail(const std::vector<Sample>& samples, std::size_t tail)
{
    if (tail >= quantiles.size()) return true;
    return std::all_of(samples.begin(), samples.end(), [&](const Sample& sample) {
        return static_cast<double>(sample.descending.size()) * (1.0 - quantiles[tail]) >= least_beyond;
    });
}

}  // namespace

EffectTable tail_effects(const DesignedRun& run, const Analysis& analysis, std::uint64_t seed, int draws)
{
    const Fit fitted =
        fit(job_series(run, analysis, measures_of(run.steps).only(1), {"step"}), steps_of(run, analysis));
    const std::vector<Sample> samples = samples_of(run, analysis, fitted);
    const std::size_t blocks = fitted.blocks.size();
    const bool enough =
        std::all_of(samples.begin(), samples.end(), [](const Sample& sample) { return sample.descending.size() >= 2; });
    if (blocks < 2 || !enough) return {};
    const Eigen::MatrixXd tails = all_tails(samples, std::vector<double>(blocks, 1.0));
    base::Random random{seed};
    std::vector<Eigen::MatrixXd> drawn;
    for (int d = 0; d < draws; ++d) {
        base::end_if_stopped();
        otf2::getting_on();
        const Eigen::MatrixXd tails_drawn = all_tails(samples, drawn_times(blocks, random));
        if (tails_drawn.allFinite()) drawn.push_back(tails_drawn);  // else the sample has no step of some treatment
    }
    if (drawn.size() < 2) return {};
    EffectTable all;
    for (const Contrast& contrast : contrasts(run.plan))
        for (std::size_t tail = 0; tail < names_of_tails.size(); ++tail) {
            if (!has_tail(samples, tail)) continue;
            const auto column = static_cast<Eigen::Index>(tail);
            std::vector<double> again;
            for (const Eigen::MatrixXd& one : drawn) again.push_back(contrast.weights.dot(one.col(column)));
            const auto count = static_cast<double>(blocks);
            const double spread = base::mean_of(again).standard_error * std::sqrt(static_cast<double>(again.size()));
            Effect& effect = all.emplace_back();
            effect.family = Family::measure;
            effect.factor = contrast.factor;
            effect.level = contrast.level;
            effect.stressor = contrast.stressor;
            effect.role = contrast.role;
            effect.kind = contrast.kind;
            effect.phase = names_of_tails[tail];
            // A bootstrap of B blocks has a smaller variance than B new blocks: by (B - 1) / B.
            effect.percent = {contrast.weights.dot(tails.col(column)), spread * std::sqrt(count / (count - 1.0)),
                              count - 1.0};
            effect.p = effect.percent.p_value();
            for (std::size_t t = 0; t < samples.size(); ++t)
                if (contrast.weights[static_cast<Eigen::Index>(t)] > 0.0)
                    effect.steps += static_cast<std::int64_t>(samples[t].descending.size());
        }
    return all;
}

}  // namespace analysis
