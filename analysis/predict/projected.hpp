// SPDX-License-Identifier: Apache-2.0
// The table of a projection: each treatment on each number of ranks, with intervals from blocks.
#pragma once

#include "analysis/estimate/inference.hpp"
#include "analysis/predict/own_times.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct ProjectedRow {
    std::string treatment;
    int ranks = 0;
    ProjectedStep at;
    double step_ms = 0.0;
    Mean log_step;                           // logarithm of step_ms, so that no interval includes a negative time
    std::optional<double> slowdown_percent;  // against quiet on the same number of ranks
    Mean log_slowdown;                       // logarithm of the step over the quiet step
    // Slowdown of the step divided by the slowdown of a rank's own work, both in ms; none where the latter does not
    // differ from zero.
    std::optional<double> amplification;
    std::string no_interval = {};  // why there is no interval; empty if there is one
};

// Intervals, from those of the logarithms. No value if the jackknife gave no errors.
std::optional<Interval> step_interval(const ProjectedRow& row, double confidence);
std::optional<Interval> slowdown_interval(const ProjectedRow& row, double confidence);

// Parses "64", "64,512", "1..65536" (both ends and the powers of two between). Throws UsageError.
std::vector<int> parse_ranks(const std::string& text);

// Projects each treatment. Errors are the jackknife's: each block is left out in turn (with more than twenty blocks,
// groups of neighbours), so the block is the unit. A treatment in a single block has values without errors.
std::vector<ProjectedRow> projected(const MeasuredTimes& measured, const std::vector<int>& ranks, int ranks_per_node);

}  // namespace analysis
