// SPDX-License-Identifier: Apache-2.0
#include "analysis/predict/projection.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace analysis {

namespace {

constexpr double most_in_tail = 0.1;  // share of the values, up to values_in_tail of them
constexpr double values_in_tail = 100.0;
constexpr double most_shape = 0.5;
constexpr int many_parts = 1000;  // for a distribution whose mean is wanted
constexpr int few_parts = 150;    // for distributions that are combined, each part with each

// Splits the variance of groups of similar values into the part that a group has in common and the members' own parts.
struct Split {
    Eigen::VectorXd shared;  // [group], mean about zero
    Eigen::MatrixXd own;     // groups x members, around the mean of all
    double between = 0.0;    // variance between groups
    double within = 0.0;
};

// The shared part is the group's mean, shrunk to the variance between groups. The remainder keeps its shape and is
// scaled to the variance within groups.
Split split(const Eigen::MatrixXd& values)
{
    const auto groups = static_cast<double>(values.rows());
    const auto members = static_cast<double>(values.cols());
    Split split{Eigen::VectorXd::Zero(values.rows()), values, 0.0, 0.0};
    const double mean = values.mean();
    const Eigen::VectorXd means = values.rowwise().mean();
    if (members < 2.0 || groups < 2.0) return split;
    split.within = (values.colwise() - means).squaredNorm() / groups / (members - 1.0);
    const double of_means = (means.array() - mean).square().sum() / (groups - 1.0);
    split.between = std::max(0.0, of_means - split.within / members);
    if (split.between > 0.0) split.shared = std::sqrt(split.between / of_means) * (means.array() - mean).matrix();
    split.own.colwise() -= split.shared;
    const double left = (split.own.array() - mean).square().mean();
    if (left > 0.0) split.own = (mean + std::sqrt(split.within / left) * (split.own.array() - mean)).matrix();
    return split;
}

using Nodes = std::vector<std::vector<Eigen::Index>>;  // [node]: its columns

Nodes nodes_of(const OwnTimes& times)
{
    std::map<std::size_t, std::vector<Eigen::Index>> columns;
    for (std::size_t rank = 0; rank < times.node.size(); ++rank)
        columns[times.node[rank]].push_back(static_cast<Eigen::Index>(rank));
    Nodes nodes;
    for (const auto& [node, ranks] : columns) nodes.push_back(ranks);
    return nodes;
}

// Removes variation that all nodes have in common, because no node waits for it.
Eigen::MatrixXd without_common(const OwnTimes& times, const Nodes& nodes)
{
    if (nodes.size() < 2) return times.own_ms;
    Eigen::MatrixXd means(times.own_ms.rows(), static_cast<Eigen::Index>(nodes.size()));
    for (std::size_t n = 0; n < nodes.size(); ++n)
        means.col(static_cast<Eigen::Index>(n)) = times.own_ms(Eigen::all, nodes[n]).rowwise().mean();
    const Split of_nodes = split(means);
    Eigen::MatrixXd own = times.own_ms;
    for (std::size_t n = 0; n < nodes.size(); ++n)
        for (const Eigen::Index rank : nodes[n])
            own.col(rank) += of_nodes.own.col(static_cast<Eigen::Index>(n)) - means.col(static_cast<Eigen::Index>(n));
    return own;
}

// One row per step and node, with as many ranks as the smallest node has.
Eigen::MatrixXd by_step_and_node(const Eigen::MatrixXd& own, const Nodes& nodes)
{
    std::size_t least = nodes.front().size();
    for (const auto& ranks : nodes) least = std::min(least, ranks.size());
    Eigen::MatrixXd rows(own.rows() * static_cast<Eigen::Index>(nodes.size()), static_cast<Eigen::Index>(least));
    for (std::size_t n = 0; n < nodes.size(); ++n)
        for (std::size_t r = 0; r < least; ++r)
            rows.block(static_cast<Eigen::Index>(n) * own.rows(), static_cast<Eigen::Index>(r), own.rows(), 1) =
                own.col(nodes[n][r]);
    return rows;
}

std::vector<double> sorted(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values;
}

std::vector<double> all_of(const Eigen::MatrixXd& values)
{
    return {values.data(), values.data() + values.size()};
}

// Distribution of the largest value over every choice of `count` ranks of a node: of the j smallest values, the largest
// is the largest of C(j-1, count-1) choices.
Delays largest_of_choices(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weight, int count)
{
    std::vector<double> values;
    std::vector<double> weights;
    const Eigen::Index members = rows.cols();
    for (Eigen::Index row = 0; row < rows.rows(); ++row) {
        const Eigen::VectorXd of_row = rows.row(row);
        const std::vector<double> ranks = sorted(all_of(of_row));
        double choices = 1.0;  // C(j-1, count-1), from j = count on
        for (Eigen::Index j = count; j <= members; ++j) {
            values.push_back(ranks[static_cast<std::size_t>(j - 1)]);
            weights.push_back(choices * weight[row % weight.size()]);  // rows: all steps of a node, then of the next
            choices *= static_cast<double>(j) / static_cast<double>(j - count + 1);
        }
    }
    return {std::move(values), std::move(weights), static_cast<std::size_t>(rows.rows())};
}

// Distribution of the largest value over `count` ranks of a node, more than were measured on one.
Delays largest_of_more(const Eigen::MatrixXd& rows, int count)
{
    const Split of_nodes = split(rows);
    const Delays own{all_of(of_nodes.own), {}, static_cast<std::size_t>(rows.size())};
    const Delays shared{all_of(of_nodes.shared), {}, static_cast<std::size_t>(rows.rows())};
    std::vector<double> values;
    std::vector<double> weights;
    const std::vector<Delays::Part> largest = own.largest_of(count, few_parts);
    for (const Delays::Part& of_node : shared.largest_of(1.0, few_parts))
        for (const Delays::Part& of_ranks : largest) {
            values.push_back(of_node.value + of_ranks.value);
            weights.push_back(of_node.weight * of_ranks.weight);
        }
    return {std::move(values), std::move(weights), static_cast<std::size_t>(rows.rows())};
}

double mean_over_steps(const Eigen::VectorXd& values, const Eigen::VectorXd& weight)
{
    return values.dot(weight) / weight.sum();
}

// Share of one rank's delay that the step does not show, because other ranks wait for the last rank anyway.
double absorbed_percent(const std::vector<Delays::Part>& own, const std::vector<Delays::Part>& last_of_others,
                        double delay)
{
    if (delay <= 0.0) return 0.0;
    double felt = 0.0;
    for (const Delays::Part& mine : own)
        for (const Delays::Part& last : last_of_others)
            felt += mine.weight * last.weight *
                    (std::max(0.0, mine.value + delay - last.value) - std::max(0.0, mine.value - last.value));
    return 100.0 * (1.0 - felt / delay);
}

}  // namespace

Delays::Delays(std::vector<double> values, std::vector<double> weights, std::size_t seen) : seen_{seen}
{
    weights.resize(values.size(), 1.0);
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    beyond_.resize(values.size());
    double beyond = 0.0;
    for (std::size_t i = order.size(); i-- > 0;) {
        beyond_[i] = beyond / sum;
        beyond += weights[order[i]];
    }
    for (const std::size_t i : order) values_.push_back(values[i]);
    fit_tail();
}

void Delays::fit_tail()
{
    const double wanted = std::min(most_in_tail, values_in_tail / static_cast<double>(seen_));
    const auto from = std::partition_point(beyond_.begin(), beyond_.end(), [&](double b) { return b > wanted; });
    const auto at = static_cast<std::size_t>(from - beyond_.begin());
    const double share = beyond_[at];
    const double threshold = values_[at];
    double mean = 0.0;       // a0 of Hosking and Wallis
    double half_mean = 0.0;  // a1: weighted by the share of the tail beyond the value
    for (std::size_t i = at + 1; i < values_.size(); ++i) {
        const double weight = (beyond_[i - 1] - beyond_[i]) / share;
        mean += weight * (values_[i] - threshold);
        half_mean += weight * (values_[i] - threshold) * (beyond_[i] / share + weight / 2.0);
    }
    if (share <= 0.0 || mean <= 0.0) return;
    tail_share_ = share;
    threshold_ = threshold;
    shape_ = std::clamp(2.0 - mean / (mean - 2.0 * half_mean), -most_shape, most_shape);
    scale_ = mean * (1.0 - shape_);
}

double Delays::exceeded_by(double chance) const
{
    if (chance < tail_share_) {
        const double grown = std::log(tail_share_ / chance);
        return threshold_ + scale_ * (std::abs(shape_) < 1e-6 ? grown : std::expm1(shape_ * grown) / shape_);
    }
    const auto found = std::partition_point(beyond_.begin(), beyond_.end(), [&](double b) { return b > chance; });
    return values_[static_cast<std::size_t>(found - beyond_.begin())];
}

std::vector<Delays::Part> Delays::largest_of(double draws, int count) const
{
    std::vector<Part> all;
    for (int i = count - 1; i >= 0; --i) {
        const double root = (i + 0.5) / count;  // square root of the probability that the largest is larger
        all.push_back({exceeded_by(-std::expm1(std::log1p(-root * root) / draws)), 2.0 * root / count});
    }
    return all;
}

ProjectedStep project(const OwnTimes& times, int ranks, int ranks_per_node)
{
    if (static_cast<std::size_t>(times.own_ms.rows()) < least_projected_steps)
        base::fail(times.own_ms.rows(), " steps are too few to project from: at least ", least_projected_steps,
                   " are needed");
    const Nodes nodes = nodes_of(times);
    const Eigen::MatrixXd own = without_common(times, nodes);
    const Eigen::MatrixXd rows = by_step_and_node(own, nodes);
    const int of_a_node = std::min(ranks, ranks_per_node);
    const Delays of_node =
        of_a_node <= rows.cols() ? largest_of_choices(rows, times.weight, of_a_node) : largest_of_more(rows, of_a_node);
    const double draws = std::max(1.0, static_cast<double>(ranks) / ranks_per_node);
    double last = 0.0;
    for (const Delays::Part& part : of_node.largest_of(draws, many_parts)) last += part.weight * part.value;
    ProjectedStep step;
    step.own_ms = mean_over_steps(times.own_ms.rowwise().mean(), times.weight);
    step.step_ms = last + mean_over_steps(times.rest_ms, times.weight);
    step.slack_ms = ranks > 1 ? std::max(0.0, last - step.own_ms) : 0.0;
    step.tail_shape = of_node.tail_shape();
    step.beyond_data = draws > static_cast<double>(of_node.seen());
    if (ranks > 1) {
        const double deviation = std::sqrt((own.array() - own.mean()).square().mean());
        const Delays of_rank{all_of(own), {}, static_cast<std::size_t>(own.rows())};
        step.absorbed_percent = absorbed_percent(of_rank.largest_of(1.0, few_parts),
                                                 of_node.largest_of(draws * (ranks - 1) / ranks, few_parts), deviation);
    }
    return step;
}

double correlation_inside_nodes(const OwnTimes& times)
{
    const Nodes nodes = nodes_of(times);
    const Split of_nodes = split(by_step_and_node(without_common(times, nodes), nodes));
    const double all = of_nodes.between + of_nodes.within;
    return all > 0.0 ? of_nodes.between / all : 0.0;
}

}  // namespace analysis
