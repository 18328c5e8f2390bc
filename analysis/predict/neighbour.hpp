// SPDX-License-Identifier: Apache-2.0
// The files that a prediction rests on: a neighbour's pressure.json, and the report of a training's designed run.
#pragma once

#include "analysis/predict/prediction.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace analysis {

struct Neighbour {
    std::string command;
    std::string host;  // where it was probed, and on which CPUs
    std::string cpus;
    std::vector<NeighbourPressure> pressures;
};

// Reads the file of noisegen probe --command. Throws Error for another one.
Neighbour read_neighbour(const std::filesystem::path& file);

// The slowdown of a training's step by the levels of a stressor beside it.
struct MeasuredCurve {
    std::string factor;
    std::string stressor;
    Curve curve;
};

struct MeasuredCurves {
    std::vector<MeasuredCurve> curves;
    double quiet_step_ms = 0.0;
    bool trustworthy = false;
    std::vector<std::string> hosts;  // of the noise
    std::vector<std::string> notes;
};

// Effects from the report; what each level reached on a node from the records of its noise processes (noise.json), the
// mean over nodes. A factor whose levels differ in more than their rate is no curve, and left out with a note. Throws
// Error if there is no report or no record, and for intervals of another confidence than 95 %.
MeasuredCurves read_curves(const std::filesystem::path& report, std::span<const std::filesystem::path> noise_records);

// Predictions by the curves that the neighbour's pressure can be read off, in its order; notes say what cannot.
std::vector<PredictedPart> predict_parts(const MeasuredCurves& measured, const Neighbour& neighbour,
                                         std::vector<std::string>& notes);

}  // namespace analysis
