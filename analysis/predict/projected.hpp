// SPDX-License-Identifier: Apache-2.0
// The table of a projection: each treatment on each number of ranks, with intervals over blocks.
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
    Mean log_step;                           // of step_ms, so that no interval holds a negative time
    std::optional<double> slowdown_percent;  // against quiet on as many ranks
    Mean log_slowdown;                       // of the step over the quiet one
    // Slowdown of the step over the slowdown of a rank's own work, in ms; none where that cannot be distinguished from
    // zero.
    std::optional<double> amplification;
    std::string no_interval = {};  // why; empty: errors are known
};

// From intervals of the logarithms. None without errors.
std::optional<Interval> step_interval(const ProjectedRow& row, double confidence);
std::optional<Interval> slowdown_interval(const ProjectedRow& row, double confidence);

// "64", "64,512", "1..65536" (both ends and the powers of two between). Throws UsageError.
std::vector<int> parse_ranks(const std::string& text);

// Errors by the jackknife: each block is left out in turn (neighbours together, where there are more than twenty), and
// the block is the unit. A treatment in one block alone has values without errors.
std::vector<ProjectedRow> projected(const MeasuredTimes& measured, const std::vector<int>& ranks, int ranks_per_node);

}  // namespace analysis
