// SPDX-License-Identifier: Apache-2.0
// Projects how long a step takes on many ranks: the slowest rank determines it, and more ranks have a slower slowest
// one.
#pragma once

#include <Eigen/Dense>

#include <cstddef>
#include <vector>

namespace analysis {

// Times of steps under one treatment, in ms.
struct OwnTimes {
    Eigen::MatrixXd own_ms;         // steps x ranks: from the step's start until the rank has finished its own work
    Eigen::VectorXd rest_ms;        // [step]: time after the last rank's work, such as transfer
    Eigen::VectorXd weight;         // [step]: number of steps that it represents
    std::vector<std::size_t> node;  // [rank]
};

// The distribution of a weighted sample: its own quantiles, and for the largest values a generalised Pareto tail
// (Pickands 1975), which gives a probability also to values beyond the sample. The tail is fitted by
// probability-weighted moments (Hosking and Wallis 1987), with its shape limited to -0.5 .. 0.5.
class Delays {
 public:
    // weights: their sum is arbitrary; empty: all equal. seen: number of independent values in the sample.
    Delays(std::vector<double> values, std::vector<double> weights, std::size_t seen);

    // The value that a draw exceeds with this probability.
    double exceeded_by(double chance) const;

    // The distribution of the largest of `draws` draws in `count` parts of rising value, which are finer where values
    // are large; weights add up to one. draws need not be a whole number: the distribution function is F^draws.
    struct Part {
        double value = 0.0;
        double weight = 0.0;
    };
    std::vector<Part> largest_of(double draws, int count) const;

    double tail_shape() const { return shape_; }
    std::size_t seen() const { return seen_; }

 private:
    void fit_tail();

    std::vector<double> values_;  // rising
    std::vector<double> beyond_;  // [value]: share of the weights above it
    std::size_t seen_;
    double tail_share_ = 0.0;  // share of draws in the tail; 0: all values are equal
    double threshold_ = 0.0;
    double shape_ = 0.0;
    double scale_ = 0.0;
};

struct ProjectedStep {
    double step_ms = 0.0;
    double own_ms = 0.0;            // mean over ranks
    double slack_ms = 0.0;          // mean time that a rank waits for the last one
    double absorbed_percent = 0.0;  // share of a rank's delay, of one standard deviation, that the step hides
    double tail_shape = 0.0;
    bool beyond_data = false;  // a step would have more nodes than there were steps: only the tail is used
};

// Ranks on a node share that node's variation. Up to the measured number of ranks per node, measured steps are used:
// the largest of every choice of ranks. With more ranks, a step's variance is split into a node's part and the ranks'
// own parts (one-way analysis of variance), and the latter are resampled. Nodes are independent; with several measured
// nodes, variation that they have in common is in the mean but not resampled. A last node that is not full counts as a
// fraction of a node. The time after the last rank's work is taken as measured. Throws Error for fewer than 40 steps.
inline constexpr std::size_t least_projected_steps = 40;
ProjectedStep project(const OwnTimes& times, int ranks, int ranks_per_node);

// Share of the variance of own work that ranks of a node have in common; 0 with one rank per node.
double correlation_inside_nodes(const OwnTimes& times);

}  // namespace analysis
