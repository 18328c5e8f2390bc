// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/trial_steps.hpp"

#include "base/csv.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace crosstalk {

TriedSteps read_tried_steps(const std::filesystem::path& table)
{
    const base::CsvTable rows{table};
    TriedSteps steps;
    std::set<std::int64_t> ranks;
    for (std::size_t row = 0; row < rows.rows(); ++row) ranks.insert(rows.get<std::int64_t>(row, "rank"));
    steps.ranks = ranks.size();
    std::vector<std::size_t> first;  // rows of the lowest rank
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.get<std::int64_t>(row, "rank") == *ranks.begin()) first.push_back(row);
    for (const std::size_t row : first) {
        const auto begin_ns = rows.get<std::int64_t>(row, "begin_ns");
        steps.begin_ns.push_back(begin_ns);
        steps.length_ns.push_back(rows.get<std::int64_t>(row, "end_ns") - begin_ns);
    }
    const std::size_t warm = warm_up_of(steps);
    const double all =
        std::accumulate(steps.length_ns.begin() + static_cast<std::ptrdiff_t>(warm), steps.length_ns.end(), 0.0);
    for (const std::string& column : rows.columns()) {
        if (!column.ends_with("_ns") || column == "begin_ns" || column == "end_ns") continue;
        double ns = 0.0;
        for (std::size_t i = warm; i < first.size(); ++i)
            ns += static_cast<double>(rows.get<std::int64_t>(first[i], column));
        if (all > 0.0) steps.phases.emplace_back(column.substr(0, column.size() - 3), ns / all);
    }
    return steps;
}

std::size_t warm_up_of(const TriedSteps& steps)
{
    constexpr std::size_t usual = 10;
    return std::min(usual, steps.length_ns.size() / 2);
}

double mean_ms(const TriedSteps& steps)
{
    const auto begin = steps.length_ns.begin() + static_cast<std::ptrdiff_t>(warm_up_of(steps));
    const auto count = static_cast<double>(steps.length_ns.end() - begin);
    return count > 0.0 ? std::accumulate(begin, steps.length_ns.end(), 0.0) / count / 1e6 : 0.0;
}

double median_ms(const TriedSteps& steps, double from_share, double to_share)
{
    const std::size_t warm = warm_up_of(steps);
    const auto count = static_cast<double>(steps.length_ns.size() - warm);
    const auto place = [&](double share) {
        return steps.length_ns.begin() + static_cast<std::ptrdiff_t>(warm) + static_cast<std::ptrdiff_t>(share * count);
    };
    std::vector<std::int64_t> part{place(from_share), place(to_share)};
    if (part.empty()) return 0.0;
    const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
    std::nth_element(part.begin(), middle, part.end());
    return static_cast<double>(*middle) / 1e6;
}

std::size_t steps_by_turns(const TriedSteps& steps)
{
    constexpr std::size_t most = 12;
    constexpr std::size_t least_groups = 10;
    constexpr double much = 0.5;
    const std::size_t warm = warm_up_of(steps);
    const auto variation = [&](std::size_t in_a_row) {  // relative standard deviation of the sums
        const std::size_t groups = (steps.length_ns.size() - warm) / in_a_row;
        double sum = 0.0;
        double squares = 0.0;
        for (std::size_t g = 0; g < groups; ++g) {
            const auto begin = steps.length_ns.begin() + static_cast<std::ptrdiff_t>(warm + g * in_a_row);
            const double of_group = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(in_a_row), 0.0);
            sum += of_group;
            squares += of_group * of_group;
        }
        const double mean = sum / static_cast<double>(groups);
        return std::sqrt(std::max(0.0, squares / static_cast<double>(groups) - mean * mean)) / mean;
    };
    if (steps.length_ns.size() < warm + 2 * least_groups) return 1;
    const double alone = variation(1);
    for (std::size_t n = 2; n <= most && (steps.length_ns.size() - warm) / n >= least_groups; ++n)
        if (variation(n) < much * alone / std::sqrt(static_cast<double>(n))) return n;
    return 1;
}

base::Nanoseconds slot_for(const TriedSteps& steps)
{
    constexpr std::int64_t tenth_ns = 100'000'000;
    const auto tenths =
        static_cast<std::int64_t>(std::ceil(10.0 * mean_ms(steps) * 1e6 / static_cast<double>(tenth_ns)));
    return base::Nanoseconds{tenth_ns * std::max<std::int64_t>(2, tenths)};
}

base::Nanoseconds length_for_budget(const TriedSteps& steps, base::Nanoseconds slot, std::size_t quiet,
                                    std::size_t slots, double budget_percent)
{
    constexpr std::size_t least_slots = 6;
    constexpr double normal_quantile = 1.96;  // quantile for a 95 % interval
    std::vector<double> means;                // mean of the steps that begin in a slot
    double sum = 0.0;
    double count = 0.0;
    const std::size_t warm = warm_up_of(steps);
    for (std::size_t i = warm; i < steps.begin_ns.size(); ++i) {
        const auto slot_of = static_cast<std::size_t>((steps.begin_ns[i] - steps.begin_ns[warm]) / slot.count());
        if (slot_of > means.size() && count > 0.0) {
            means.push_back(sum / count);
            sum = count = 0.0;
        }
        sum += static_cast<double>(steps.length_ns[i]);
        count += 1.0;
    }
    if (means.size() < least_slots || quiet == 0 || slots == 0) return {};
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
    double squares = 0.0;
    for (const double one : means) squares += (one - mean) * (one - mean);
    const double share = std::sqrt(squares / static_cast<double>(means.size() - 1)) / mean;
    const double of_block = share * std::sqrt(1.0 + 1.0 / static_cast<double>(quiet));
    const double blocks = std::ceil(std::pow(normal_quantile * of_block / (budget_percent / 100.0), 2.0));
    return slot * static_cast<std::int64_t>(slots) * static_cast<std::int64_t>(std::max(2.0, blocks));
}

}  // namespace crosstalk
