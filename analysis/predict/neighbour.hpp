// SPDX-License-Identifier: Apache-2.0
// Reads the inputs of a prediction: a neighbour's pressure.json, and the report of a training's designed run.
#pragma once

#include "analysis/predict/prediction.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace analysis {

struct Neighbour {
    std::string command;
    std::string host;  // the host, and the CPUs below, on which it was probed
    std::string cpus;
    std::vector<NeighbourPressure> pressures;
};

// Reads a file written by noisegen probe --command. Throws Error for any other file.
Neighbour read_neighbour(const std::filesystem::path& file);

// Slowdown of a training's step by a stressor at several levels.
struct MeasuredCurve {
    std::string factor;
    std::string stressor;
    Curve curve;
};

struct MeasuredCurves {
    std::vector<MeasuredCurve> curves;
    double quiet_step_ms = 0.0;
    bool trustworthy = false;
    std::vector<std::string> hosts;  // hosts of the noise
    std::vector<std::string> notes;
};

// Reads curves. Effects come from the report; the achieved level on a node comes from the records of its noise
// processes (noise.json), as the mean over nodes. A factor whose levels differ in more than their rate has no curve,
// and is left out with a note. Throws Error if there is no report or no record, and for intervals with another
// confidence than 95 %.
MeasuredCurves read_curves(const std::filesystem::path& report, std::span<const std::filesystem::path> noise_records);

// Predictions, in the order of the neighbour's pressures, from the curves on which a pressure can be read off. `notes`
// gets the other pressures.
std::vector<PredictedPart> predict_parts(const MeasuredCurves& measured, const Neighbour& neighbour,
                                         std::vector<std::string>& notes);

}  // namespace analysis
