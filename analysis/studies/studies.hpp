// SPDX-License-Identifier: Apache-2.0
// Simulated runs of several, extended and looked at: how often their intervals hold the truth.
#pragma once

#include "analysis/estimate/simulation.hpp"
#include "analysis/input/designed_run.hpp"
#include "base/csv.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

// All with what virtual machines do: 30 % of drift over a run, and stalls of 20 ms in 1 % of the time. Rows of a table
// on `out` and, if there is one, in `csv`, whose columns are study_columns.
struct Study {
    int repetitions = 200;
    std::uint64_t seed = 1;
    base::CsvWriter* csv = nullptr;
};

extern const std::vector<std::string> study_columns;

// Common parts of studies: the simulated machine, the run made of it, a row of their table.
constexpr double study_confidence = 0.95;
Simulation study_simulation(const std::vector<double>& effects_percent, double run_s);
DesignedRun designed_run(SimulatedRun simulated);
void tell_row(std::ostream& out, const Study& study, const char* name, double effect, double varies, int count,
              const std::string& quantity, double value);

// Sets of 3, 5 and 10 runs whose true effects differ by 1 % and by 25 % of the effect: does the interval hold the mean
// effect of all such runs, and the prediction interval that of one more?
void study_of_pooled(std::ostream& out, const Study& study);

// Runs in 3, 5 and 10 parts, which differ as much: does the interval hold the mean effect of these parts?
void study_of_extended(std::ostream& out, const Study& study);

// Runs that end when one noise, or all of three, are decided, and of a length fixed beforehand that are extended up to
// three times while something is undecided: how often is a verdict false where the true effect is the budget, and how
// long do they take where it is none, half of it, and twice as much?
void study_of_looking(std::ostream& out, const Study& study);

}  // namespace analysis
