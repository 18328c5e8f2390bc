// SPDX-License-Identifier: Apache-2.0
// The noise's harvest in each slot, from noise.csv.
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
    bool bytes = false;         // true: counts bytes; false: operations
    std::vector<double> per_s;  // [slot]: sum over all noise processes and CPUs
};

struct Harvests {
    std::map<std::pair<std::string, std::string>, Harvest> levels;  // [{factor, level}]
    std::size_t cpus = 0;                                           // CPUs of the noise on all hosts together
};

// Reads the tables, one for each noise process. Factors without work (placebo, quiet) are left out. Throws Error for a
// file that is no such table.
Harvests read_harvests(const std::vector<std::filesystem::path>& noise_csvs);

// Pools the harvests of several runs, each with its parts: the mean speed of each run, because the run is the unit; for
// a single run, the speeds of all slots of its parts. A level that one of them lacks is left out. CPUs are those of the
// first.
Harvests harvests_of_all(const std::vector<std::vector<Harvests>>& runs);

// The tables in a run's directory or its noise/, or the single file `place`. Throws Error if there is none.
std::vector<std::filesystem::path> noise_rows_in(const std::filesystem::path& place);

}  // namespace analysis
