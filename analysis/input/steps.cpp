// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/steps.hpp"

#include "base/contract/phases.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace analysis {

namespace {

double length_ms(const RankSteps& rank, std::size_t step)
{
    return static_cast<double>(rank.end_ns[step] - rank.begin_ns[step]) / 1e6;
}

double measure_of(const RankSteps& rank, std::size_t step, std::size_t which)
{
    return which == 0 ? length_ms(rank, step)
                      : rank.phase_ms(static_cast<Eigen::Index>(step), static_cast<Eigen::Index>(which) - 1);
}

}  // namespace

Eigen::MatrixXd Measures::of(std::span<const Eigen::Index> steps, Eigen::Index count) const
{
    Eigen::MatrixXd rows(static_cast<Eigen::Index>(steps.size()), count);
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        fill_(static_cast<std::size_t>(steps[i]), values);
        for (std::size_t m = 0; m < values.size(); ++m)
            rows(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(m)) = values[m];
    }
    return rows;
}

Measures Measures::held(Eigen::MatrixXd all)
{
    const auto steps = static_cast<std::size_t>(all.rows());
    const Eigen::Index count = all.cols();
    const auto shared = std::make_shared<const Eigen::MatrixXd>(std::move(all));
    return {steps, count, [shared](std::size_t step, std::span<double> values) {
                for (std::size_t m = 0; m < values.size(); ++m)
                    values[m] = (*shared)(static_cast<Eigen::Index>(step), static_cast<Eigen::Index>(m));
            }};
}

Measures measures_of(const RankSteps& rank)
{
    return {rank.begin_ns.size(), 1 + rank.phase_ms.cols(), [&rank](std::size_t step, std::span<double> values) {
                for (std::size_t m = 0; m < values.size(); ++m) values[m] = measure_of(rank, step, m);
            }};
}

LongTable table_of(const Measures& measures)
{
    LongTable table;
    std::vector<double> row(static_cast<std::size_t>(measures.cols()));
    for (std::size_t step = 0; step < measures.steps(); ++step) {
        measures.fill(step, row);
        table.append_row(row);
    }
    return table;
}

Measures with_columns(const Measures& measures, const LongTable& table)
{
    return {measures.steps(), measures.cols() + table.cols(),
            [measures, &table](std::size_t step, std::span<double> values) {
                const auto before = static_cast<std::size_t>(measures.cols());
                measures.fill(step, values.first(std::min(before, values.size())));
                for (std::size_t m = before; m < values.size(); ++m)
                    values[m] = table(static_cast<Eigen::Index>(step), static_cast<Eigen::Index>(m - before));
            }};
}

Measures measures_of(const StepTable& table)
{
    const std::vector<RankSteps>& ranks = table.ranks;
    return {ranks.at(0).begin_ns.size(), 1 + ranks.at(0).phase_ms.cols(),
            [&ranks](std::size_t step, std::span<double> values) {
                for (std::size_t m = 0; m < values.size(); ++m) {
                    double sum = measure_of(ranks.front(), step, m);
                    for (std::size_t r = 1; r < ranks.size(); ++r) sum += measure_of(ranks[r], step, m);
                    values[m] = sum / static_cast<double>(ranks.size());
                }
            }};
}

namespace {

constexpr double hardly_any = 0.001;

// [step]: gap between its end and the next step's start; negative if they overlap, 0 for the last step.
base::LongColumn<std::int64_t> gaps_ns(const RankSteps& rank)
{
    base::LongColumn<std::int64_t> gaps;
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
        const bool followed = i + 1 < rank.begin_ns.size() && rank.begin_ns[i + 1] > rank.begin_ns[i];
        gaps.push_back(followed ? rank.begin_ns[i + 1] - rank.end_ns[i] : 0);
    }
    return gaps;
}

}  // namespace

void measure_cycles(StepTable& steps)
{
    std::vector<base::LongColumn<std::int64_t>> gaps;
    double between_ns = 0.0;
    double all_ns = 0.0;
    bool touch = true;
    for (const RankSteps& rank : steps.ranks) {
        gaps.push_back(gaps_ns(rank));
        for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
            between_ns += static_cast<double>(gaps.back()[i]);
            touch = touch && gaps.back()[i] == 0;
            all_ns += static_cast<double>(rank.end_ns[i] - rank.begin_ns[i] + gaps.back()[i]);
        }
    }
    if (touch) return;
    steps.between_share = between_ns / all_ns;
    const auto other = std::find(steps.phases.begin(), steps.phases.end(), base::text(base::TrainingPhase::other));
    const bool into_other = std::abs(steps.between_share) < hardly_any && other != steps.phases.end();
    const auto phase = static_cast<Eigen::Index>(other - steps.phases.begin());
    for (std::size_t r = 0; r < steps.ranks.size(); ++r) {
        RankSteps& rank = steps.ranks[r];
        base::LongColumn<double> between_ms;
        for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
            const double ms = static_cast<double>(gaps[r][i]) / 1e6;
            rank.end_ns[i] += gaps[r][i];
            if (into_other)
                rank.phase_ms(static_cast<Eigen::Index>(i), phase) += ms;
            else
                between_ms.push_back(ms);
        }
        if (!into_other) rank.phase_ms.append(std::move(between_ms));
    }
    if (!into_other) steps.phases.emplace_back(between_steps);
}

}  // namespace analysis
