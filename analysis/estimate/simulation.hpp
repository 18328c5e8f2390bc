// SPDX-License-Identifier: Apache-2.0
// Simulated runs with known effects, to check the estimator.
#pragma once

#include "analysis/input/slots.hpp"
#include "analysis/input/steps.hpp"
#include "base/random.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

// A rotation of factors, with one slot each and ceil(sqrt(factors)) quiet slots per block, and a training whose steps
// are like real ones: they have drift, autocorrelation and outliers, and cross slot borders.
struct Simulation {
    std::vector<double> effects_percent;  // [factor]: true slowdown of a step wholly under it
    double step_ms = 100.0;               // quiet step
    double deviation = 0.03;              // relative standard deviation of a step's work
    double autocorrelation = 0.3;         // of a step's work with that of the next step
    double drift = 0.01;                  // relative change of the mean step over the run
    double outlier_rate = 0.01;           // share of steps with two to five times the work
    double stalled = 0.0;                 // share of time in which the host stalls the training
    double stall_ms = 20.0;               // length of one stall
    double slot_s = 1.0;
    double run_s = 120.0;
    // If not empty: levels of a single factor "f", one for each effect; else each effect has its own factor.
    std::vector<std::string> levels{};
    std::vector<double> carry_over_percent{};  // [factor]: slowdown that is left at the start of the next slot
    // Time constant, after which 1/e of the slowdown is left; 0: it stays constant until the slot ends.
    double carry_over_s = 0.0;
};

struct SimulatedRun {
    std::vector<Slot> slots;
    StepTable steps;  // one rank; phases "compute" and "exchange", which take two thirds and one third of the work
};

// Factors are called "f0", "f1", ... in the order of effects_percent. Carry-over of the slot before adds to the effect
// of the present slot.
SimulatedRun simulate(const Simulation& what, base::Random& random);

}  // namespace analysis
