// SPDX-License-Identifier: Apache-2.0
// How long a step would take on many ranks: the slowest of them makes it, and the more there are the slower it is.
#pragma once

#include <Eigen/Dense>

#include <cstddef>
#include <vector>

namespace analysis {

// Times of steps under one treatment, in ms.
struct OwnTimes {
    Eigen::MatrixXd own_ms;         // steps x ranks: from its begin until the rank was ready with its own work
    Eigen::VectorXd rest_ms;        // by step: what followed the last rank's work, such as transfer
    Eigen::VectorXd weight;         // by step: how many it stands for
    std::vector<std::size_t> node;  // by rank
};

// A sample with weights that stands for what it was drawn from: its own quantiles, and for the slowest a generalised
// Pareto tail (Pickands 1975) with which also what was never seen has its chance. Fitted by probability-weighted
// moments (Hosking and Wallis 1987), its shape kept within -0.5 and 0.5.
class Delays {
 public:
    // Weights add up to anything; none: all the same. `seen`: how many independent values it rests on.
    Delays(std::vector<double> values, std::vector<double> weights, std::size_t seen);

    // The value that a draw exceeds with this chance.
    double exceeded_by(double chance) const;

    // The distribution of the largest of `draws` draws in `count` parts, rising, smaller ones where values are large;
    // weights add up to one. Draws need be no whole number: its distribution function is F^draws.
    struct Part {
        double value = 0.0;
        double weight = 0.0;
    };
    std::vector<Part> largest_of(double draws, int count) const;

    double tail_share() const { return tail_share_; }  // of the draws; 0: all values are the same
    double tail_shape() const { return shape_; }
    std::size_t seen() const { return seen_; }

 private:
    void fit_tail();

    std::vector<double> values_;  // rising
    std::vector<double> beyond_;  // by value: the share of the weights behind it
    std::size_t seen_;
    double tail_share_ = 0.0;
    double threshold_ = 0.0;
    double shape_ = 0.0;
    double scale_ = 0.0;
};

struct ProjectedStep {
    double step_ms = 0.0;
    double own_ms = 0.0;            // mean over ranks
    double slack_ms = 0.0;          // that a rank waits for the last, on average
    double absorbed_percent = 0.0;  // of a delay of one rank as long as a standard deviation of its own work
    double tail_shape = 0.0;
    bool beyond_data = false;  // there would be more nodes in a step than there were steps: the tail alone speaks
};

// Ranks on a node share what varies on it. Up to as many ranks a node as were measured its steps are taken as they
// were: the largest of every choice of ranks. With more, a step's variance is split into a node's part and the ranks'
// own (one-way analysis of variance), and the ranks' own parts are drawn anew. Nodes are independent; of several
// measured ones what varies alike on all of them is left out of what is drawn, and in the mean. A last node that is not
// full counts as a share of one. What follows the last rank's work is taken as it was measured. Throws Error for fewer
// than 40 steps.
inline constexpr std::size_t least_projected_steps = 40;
ProjectedStep project(const OwnTimes& times, int ranks, int ranks_per_node);

// Share of the variance of own work that ranks of a node have in common; 0 with one rank a node.
double correlation_inside_nodes(const OwnTimes& times);

}  // namespace analysis
