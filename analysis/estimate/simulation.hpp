// SPDX-License-Identifier: Apache-2.0
// Simulated runs with known effects: what the estimator is checked against.
#pragma once

#include "analysis/input/slots.hpp"
#include "analysis/input/steps.hpp"
#include "base/random.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

// A rotation of factors, one slot each and quiet ceil(sqrt(factors)) times in every block, and a training whose steps
// have what real ones have: drift, autocorrelation, outliers, and no regard for slot borders.
struct Simulation {
    std::vector<double> effects_percent;  // by factor: true slowdown of a step wholly under it
    double step_ms = 100.0;               // quiet
    double deviation = 0.03;              // of a step's work, relative
    double autocorrelation = 0.3;         // of that from step to step (first order)
    double drift = 0.01;                  // of the mean step over the run, relative
    double outlier_rate = 0.01;           // steps whose work is two to five times as much
    double stalled = 0.0;                 // share of the time in which the host does something else
    double stall_ms = 20.0;               // at a time
    double slot_s = 1.0;
    double run_s = 120.0;
    std::vector<std::string> levels{};         // if any: all are levels of one factor "f", not factors of their own
    std::vector<double> carry_over_percent{};  // by factor: slowdown that is left at the begin of the next slot
    double carry_over_s = 0.0;                 // after which a third (1/e) of it is left; 0: all, until the slot ends
};

struct SimulatedRun {
    std::vector<Slot> slots;
    StepTable steps;  // one rank; phases "compute" and "exchange", which take two thirds and one third of the work
};

// Factors are called "f0", "f1", ... in the order of effects_percent. What is left of the slot before adds to what is
// on.
SimulatedRun simulate(const Simulation& what, base::Random& random);

}  // namespace analysis
