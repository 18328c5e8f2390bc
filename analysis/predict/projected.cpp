// SPDX-License-Identifier: Apache-2.0
#include "analysis/predict/projected.hpp"

#include "base/cli/option_checks.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace analysis {

namespace {

constexpr int most_ranks = 1 << 24;
constexpr int most_groups = 20;

int parse_number_of_ranks(const std::string& text)
{
    const int ranks = base::parsed<int>("--ranks", text);
    if (ranks < 1 || ranks > most_ranks) base::fail_usage("--ranks must be 1 to ", most_ranks, ", not ", text);
    return ranks;
}

// Groups of neighbouring blocks, by their numbers.
class Groups {
 public:
    explicit Groups(const MeasuredTimes& measured)
    {
        std::set<int> blocks;
        for (const TreatedTimes& treated : measured.treatments)
            blocks.insert(treated.block.begin(), treated.block.end());
        first_ = *blocks.begin();
        blocks_ = *blocks.rbegin() - first_ + 1;
        count_ = std::min(most_groups, blocks_);
    }

    int count() const { return count_; }
    int of(int block) const { return (block - first_) * count_ / blocks_; }

 private:
    int first_ = 0;
    int blocks_ = 0;
    int count_ = 0;
};

OwnTimes without(const TreatedTimes& treated, const Groups& groups, int left_out)
{
    std::vector<Eigen::Index> steps;
    for (std::size_t i = 0; i < treated.block.size(); ++i)
        if (groups.of(treated.block[i]) != left_out) steps.push_back(static_cast<Eigen::Index>(i));
    const OwnTimes& all = treated.times;
    return {all.own_ms(steps, Eigen::all), all.rest_ms(steps), all.weight(steps), all.node};
}

// A statistic of all blocks, and of all but one group, for each group.
struct Jackknife {
    double all = 0.0;
    std::vector<double> without;

    Mean mean() const
    {
        if (without.empty()) return {.value = all};
        const auto groups = static_cast<double>(without.size());
        std::vector<double> pseudo;
        for (const double value : without) pseudo.push_back(groups * all - (groups - 1.0) * value);
        Mean mean = base::mean_of(pseudo);
        mean.value = all;
        return mean;
    }
};

template <class Of>
Jackknife jackknife(const std::vector<ProjectedStep>& steps, Of of)
{
    Jackknife values{of(0), {}};
    for (std::size_t i = 1; i < steps.size(); ++i) values.without.push_back(of(i));
    return values;
}

// Why the jackknife gives no errors for a treatment; empty if it does.
std::string no_interval_of(const TreatedTimes& treated, const Groups& groups)
{
    std::map<int, std::size_t> steps;
    for (const int block : treated.block) ++steps[groups.of(block)];
    if (steps.size() < 2)
        return base::join("all steps under ", treated.treatment,
                          " lie in one group of neighbouring blocks, but an interval needs two groups");
    for (const auto& [group, count] : steps)
        if (const std::size_t left = treated.block.size() - count; left < least_projected_steps)
            return base::join("without one group of neighbouring blocks, ", left, " steps under ", treated.treatment,
                              " are left, fewer than the required ", least_projected_steps);
    return {};
}

// Projections: first that from all blocks; then, if the jackknife gives errors, one without each group of blocks.
std::vector<ProjectedStep> steps_of(const TreatedTimes& treated, const Groups& groups, bool with_errors, int ranks,
                                    int ranks_per_node)
{
    std::vector<ProjectedStep> steps{project(treated.times, ranks, ranks_per_node)};
    if (!with_errors) return steps;
    for (int group = 0; group < groups.count(); ++group)
        steps.push_back(project(without(treated, groups, group), ranks, ranks_per_node));
    return steps;
}

}  // namespace

std::vector<int> parse_ranks(const std::string& text)
{
    std::set<int> all;
    for (const std::string& part : base::split(text, ',')) {
        const std::size_t dots = part.find("..");
        const int first = parse_number_of_ranks(part.substr(0, dots));
        all.insert(first);
        if (dots == std::string::npos) continue;
        const int last = parse_number_of_ranks(part.substr(dots + 2));
        if (last < first) base::fail_usage("--ranks: ", part, " falls");
        for (int ranks = 1; ranks <= last; ranks *= 2)
            if (ranks >= first) all.insert(ranks);
        all.insert(last);
    }
    if (all.empty()) base::fail_usage("--ranks: give numbers such as 64, or 1..65536");
    return {all.begin(), all.end()};
}

std::vector<ProjectedRow> projected(const MeasuredTimes& measured, const std::vector<int>& ranks, int ranks_per_node)
{
    const Groups groups{measured};
    const TreatedTimes& without_noise = measured.treatments.front();
    const std::string no_interval_of_quiet = no_interval_of(without_noise, groups);
    std::vector<ProjectedRow> rows;
    for (const int count : ranks) {
        const std::vector<ProjectedStep> quiet =
            steps_of(without_noise, groups, no_interval_of_quiet.empty(), count, ranks_per_node);
        for (const TreatedTimes& treated : measured.treatments) {
            const bool is_quiet = &treated == &without_noise;
            ProjectedRow& row = rows.emplace_back();
            row.treatment = treated.treatment;
            row.ranks = count;
            row.no_interval = no_interval_of_quiet.empty() ? no_interval_of(treated, groups) : no_interval_of_quiet;
            const bool with_errors = row.no_interval.empty();
            const std::vector<ProjectedStep> steps =
                is_quiet ? quiet : steps_of(treated, groups, with_errors, count, ranks_per_node);
            row.at = steps.front();
            row.step_ms = row.at.step_ms;
            row.log_step = jackknife(steps, [&](std::size_t i) { return std::log(steps[i].step_ms); }).mean();
            if (is_quiet) continue;
            row.slowdown_percent = 100.0 * (row.step_ms / quiet.front().step_ms - 1.0);
            const auto log_slowdown = [&](std::size_t i) { return std::log(steps[i].step_ms / quiet[i].step_ms); };
            row.log_slowdown = jackknife(steps, log_slowdown).mean();
            if (!with_errors) continue;
            const Mean own = jackknife(steps, [&](std::size_t i) { return steps[i].own_ms - quiet[i].own_ms; }).mean();
            if (own.p_value() <= 0.05) row.amplification = (row.at.step_ms - quiet.front().step_ms) / own.value;
        }
    }
    return rows;
}

std::optional<Interval> step_interval(const ProjectedRow& row, double confidence)
{
    if (!row.no_interval.empty()) return std::nullopt;
    const Interval logarithms = row.log_step.interval(confidence);
    return Interval{std::exp(logarithms.low), std::exp(logarithms.high)};
}

std::optional<Interval> slowdown_interval(const ProjectedRow& row, double confidence)
{
    if (!row.slowdown_percent || !row.no_interval.empty()) return std::nullopt;
    const Interval logarithms = row.log_slowdown.interval(confidence);
    return Interval{100.0 * std::expm1(logarithms.low), 100.0 * std::expm1(logarithms.high)};
}

}  // namespace analysis
