// SPDX-License-Identifier: Apache-2.0
// noisegen calibrate: the rate that each stressor reaches on this node. Rounds alternate between stressors and numbers
// of cores.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/resources/budgets.hpp"
#include "noisegen/resources/node_limits.hpp"

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace noisegen {

struct Calibration {
    std::vector<std::string> stressors;  // words of a schedule; empty: all stressors that can have a rate
    base::CpuSet cpus;                   // measured with 1, 2, 4, ... and all of their cores
    std::size_t rounds = 9;
    base::Nanoseconds round{300'000'000};
    std::uint64_t seed = 1;  // seed of the order in each round
    Budgets budgets;
    std::filesystem::path limits_file;
    std::optional<int> victim;  // CPU of a victim: finds the shape of memory.stream that slows it down most
};

// Comparison of two cores with one of them, round by round: do they share a path to memory?
struct Coupling {
    std::size_t apart = 0;    // rounds in which two cores reached nearly twice as much as one
    std::size_t in_part = 0;  // rounds in between
    std::size_t shared = 0;   // rounds in which two cores reached about as much as one
    double median_ratio = 0.0;
};

// `one` and `two` are rates per second in the same rounds; both have the same size, at least one.
Coupling coupling(const std::vector<double>& one, const std::vector<double>& two);

// One or two sentences without the final full stop.
std::string text(const Coupling& coupling, const base::CpuSet& first, const base::CpuSet& second);

// Measures, adds the results to the limits file and prints them. A stressor that cannot run here is left out with a
// line on stderr, unless it was requested by name. Returns the exit code: 3 if the program was asked to stop before the
// last round, in which case nothing is added. Throws UsageError for invalid options and for demands beyond the budgets.
int calibrate(const Calibration& calibration);

// Prints a table with units.
void print_limits(std::ostream& out, const std::vector<StressorLimit>& entries);

}  // namespace noisegen
