// SPDX-License-Identifier: Apache-2.0
// Predicts the cost of a neighbour that never ran with the training, from its pressure and the training's curves.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// A level of a stressor in a run of the training: the achieved amount per second, and the slowdown of the step.
struct MeasuredLevel {
    double level = 0.0;
    double percent = 0.0;
    Interval interval;
};

// Levels in rising order. Without noise, at level 0, the slowdown is 0.
using Curve = std::vector<MeasuredLevel>;

// The level at which the stressor hurts a victim as much as the neighbour does. None: above the levels of the probe.
struct NeighbourPressure {
    std::string stressor;
    std::string unit;   // "bytes/s" or "operations/s"
    bool felt = false;  // false: the victim did not react to the stressor, so no level could be read off
    std::optional<double> level;
    double low = 0.0;
    std::optional<double> high;
};

// The predicted slowdown. None: outside the measured range of pressure or curve.
struct Predicted {
    std::optional<double> percent;
    double low = 0.0;
    std::optional<double> high;
};

// Reads the pressure off the curve, which is linear between levels; it and the ends of its intervals are made monotone
// by least squares. The interval includes the errors of both curve and pressure, taken as independent: the squared
// distances to the ends that each error alone would give are added (Zou and Donner 2008). Needs one level or more.
Predicted predict(const Curve& curve, const NeighbourPressure& pressure);

struct PredictedPart {
    std::string stressor;
    Predicted predicted;
};

// Adds up the parts. Memory and cache are one path, and each of these stressors alone covers the whole damage, so only
// the larger of the two counts. Needs one part or more.
Predicted together(const std::vector<PredictedPart>& parts);

}  // namespace analysis
