// SPDX-License-Identifier: Apache-2.0
// Cost of a neighbour that never ran beside the training: its pressure read off the training's own curves.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// A level of a stressor beside the training: what it reached, per second, and the slowdown of the step.
struct MeasuredLevel {
    double level = 0.0;
    double percent = 0.0;
    Interval interval;
};

// In order of rising level; no noise is level 0 and slows nothing.
using Curve = std::vector<MeasuredLevel>;

// The level at which the stressor hurts a victim as much as the neighbour does. None: beyond what was measured there.
struct NeighbourPressure {
    std::string stressor;
    std::string unit;   // "bytes/s" or "operations/s"
    bool felt = false;  // else the victim did not feel the stressor, and no level could be read off
    std::optional<double> level;
    double low = 0.0;
    std::optional<double> high;
};

// None: outside the measured range of pressure or curve, where nothing is said.
struct Predicted {
    std::optional<double> percent;
    double low = 0.0;
    std::optional<double> high;
};

// Between levels the curve is linear; it is made monotone by least squares, and so are the ends of its intervals. Both
// errors are in the interval, taken as independent: squares of the distances to the ends that each alone would give
// are added (Zou and Donner 2008). One level or more.
Predicted predict(const Curve& curve, const NeighbourPressure& pressure);

struct PredictedPart {
    std::string stressor;
    Predicted predicted;
};

// Memory and cache are one path, on which each stressor stands for all of the damage: the larger of the two counts.
// Others add up. One part or more.
Predicted together(const std::vector<PredictedPart>& parts);

}  // namespace analysis
