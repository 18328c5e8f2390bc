// SPDX-License-Identifier: Apache-2.0
// The noise's harvest, slot by slot: noise.csv.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// Harvest of a factor at one of its levels.
struct Harvest {
    std::string stressor;
    bool bytes = false;         // it counts bytes, else operations
    std::vector<double> per_s;  // [slot], of all noise processes and CPUs together
};

struct Harvests {
    std::map<std::pair<std::string, std::string>, Harvest> levels;  // by factor and level
    std::size_t cpus = 0;                                           // of noise, of all hosts
};

// Each process has one. What did nothing, as placebo and quiet, is left out. Throws Error for what is no such table.
Harvests read_harvests(const std::vector<std::filesystem::path>& noise_csvs);

// Harvests of several runs, each with its parts: of each run its mean speed, because the run is the unit. Of one run in
// parts the speeds of all slots. What one of them did not do is left out. CPUs are those of the first.
Harvests harvests_of_all(const std::vector<std::vector<Harvests>>& runs);

// The tables of a run's directory, of its noise/, or the one file that is named. Throws Error if there is none.
std::vector<std::filesystem::path> noise_rows_in(const std::filesystem::path& place);

}  // namespace analysis
