#include "analysis/input/cycles.hpp"

#include "base/contract/phases.hpp"

#include <algorithm>
#include <limits>

namespace analysis {

namespace {

constexpr double hardly_any = 0.001;

// Numbers of steps that follow each other differ by this.
std::int64_t stride(const base::LongColumn<std::int64_t>& numbers)
{
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        const std::int64_t difference = numbers[i] - numbers[i - 1];
        if (difference > 0) least = std::min(least, difference);
    }
    return least;
}

// After each step; the last has none.
base::LongColumn<std::int64_t> gaps_ns(const RankSteps& rank, const base::LongColumn<std::int64_t>& numbers,
                                       std::int64_t stride)
{
    base::LongColumn<std::int64_t> gaps;
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
        const bool followed = i + 1 < rank.begin_ns.size() && numbers[i + 1] - numbers[i] == stride;
        gaps.push_back(followed ? std::max<std::int64_t>(0, rank.begin_ns[i + 1] - rank.end_ns[i]) : 0);
    }
    return gaps;
}

}  // namespace

void measure_cycles(StepTable& steps)
{
    const std::int64_t next = stride(steps.numbers);
    std::vector<base::LongColumn<std::int64_t>> gaps;
    double between_ns = 0.0;
    double all_ns = 0.0;
    for (const RankSteps& rank : steps.ranks) {
        gaps.push_back(gaps_ns(rank, steps.numbers, next));
        for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
            between_ns += static_cast<double>(gaps.back()[i]);
            all_ns += static_cast<double>(rank.end_ns[i] - rank.begin_ns[i] + gaps.back()[i]);
        }
    }
    if (between_ns == 0.0) return;
    steps.between_share = between_ns / all_ns;
    const auto other = std::find(steps.phases.begin(), steps.phases.end(), base::text(base::TrainingPhase::other));
    const bool into_other = steps.between_share < hardly_any && other != steps.phases.end();
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
