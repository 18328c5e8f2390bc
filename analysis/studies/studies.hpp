// SPDX-License-Identifier: Apache-2.0
// Simulates several runs, extended runs, and runs that end when decided: how often their intervals include the truth.
#pragma once

#include "analysis/estimate/simulation.hpp"
#include "analysis/input/designed_run.hpp"
#include "base/csv.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

// A simulation study. All simulate what happens on virtual machines: drift of 30 % over a run, and stalls of 20 ms that
// take 1 % of the time. Results are rows of a table on `out` and, if given, in `csv` with the columns study_columns.
struct Study {
    int repetitions = 200;
    std::uint64_t seed = 1;
    base::CsvWriter* csv = nullptr;
};

extern const std::vector<std::string> study_columns;

// Common parts of studies: the simulated machine, a run on it, and a row of the table.
constexpr double study_confidence = 0.95;
Simulation study_simulation(const std::vector<double>& effects_percent, double run_s);
DesignedRun designed_run(SimulatedRun simulated);
void tell_row(std::ostream& out, const Study& study, const char* name, double effect, double varies, int count,
              const std::string& quantity, double value);

// Simulates sets of 3, 5 and 10 runs whose true effects differ by 1 % and by 25 % of the effect: does the interval
// include the mean effect of all such runs, and the prediction interval the effect of one more run?
void study_of_pooled(std::ostream& out, const Study& study);

// Simulates runs in 3, 5 and 10 parts that differ in the same way: does the interval include the mean effect of the
// parts?
void study_of_extended(std::ostream& out, const Study& study);

// Simulates runs that end when one noise, or all of three, are decided, and runs of fixed length that are extended up
// to three times while a verdict is open: how often is a verdict false where the true effect is the budget, and how
// long do they take where the effect is zero, half the budget, and twice the budget?
void study_of_looking(std::ostream& out, const Study& study);

}  // namespace analysis
