// SPDX-License-Identifier: Apache-2.0
// noisegen calibrate: what each stressor reaches on this node, measured in alternated rounds over stressors and numbers
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
    std::vector<std::string> stressors;  // as in a schedule; empty: all on the registry that can be held to a rate
    base::CpuSet cpus;                   // on 1, 2, 4, ... and all of their cores
    std::size_t rounds = 9;
    base::Nanoseconds round{300'000'000};
    std::uint64_t seed = 1;  // of the order in each round
    Budgets budgets;
    std::filesystem::path limits_file;
    std::optional<int> victim;  // a CPU: looks for the shape of memory.stream that slows a victim there down most
};

// Two cores against one of them, round by round: do they share a path to memory?
struct Coupling {
    std::size_t apart = 0;    // rounds in which two reached nearly twice what one did
    std::size_t in_part = 0;  // rounds in between
    std::size_t shared = 0;   // rounds in which two reached about what one did
    double median_ratio = 0.0;
};

// Amounts per second of the same rounds; as many of each, one or more.
Coupling coupling(const std::vector<double>& one, const std::vector<double>& two);

// A sentence or two without a full stop.
std::string text(const Coupling& coupling, const base::CpuSet& first, const base::CpuSet& second);

// Measures, adds to the limits file and prints. A stressor that cannot run here is left out with a line on stderr, if
// it was not asked for by name. Returns the exit code: 3 if the program was asked to stop before the last round; then
// nothing is added. Throws UsageError for wrong words and for what the budgets do not allow.
int calibrate(const Calibration& calibration);

// A table with units.
void print_limits(std::ostream& out, const std::vector<StressorLimit>& entries);

}  // namespace noisegen
