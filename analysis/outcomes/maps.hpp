// SPDX-License-Identifier: Apache-2.0
// Which bits, which layers and when: shares of ruined trials as tables and drawings.
#pragma once

#include "analysis/outcomes/tables.hpp"

#include <string>
#include <vector>

namespace analysis {

// A row of a map: what it is of (a bit, a tensor) and how many bits flipped, of which strategy, target and step (-1:
// all).
struct MapRow {
    std::string strategy;
    std::string target;
    std::string of;
    std::int64_t flips = 1;
    std::int64_t step = -1;
    ClassShare ruined;
};

// "several, 24 flips"; of one flip the name alone.
std::string label(const MapRow& row);

// ", weighted by bits" where a share is not its count by its trials.
std::string weighting(const ClassShare& share);

// "0.6 to 15.5 %"; of a single trial why there is none.
std::string interval_text(const ClassShare& share);

std::vector<MapRow> bit_map(const OutcomeReport& report);
std::vector<MapRow> layer_map(const OutcomeReport& report);
std::vector<MapRow> layer_step_map(const OutcomeReport& report);

// A bar for each row with its interval, in groups of strategy and target.
std::string bars(const std::vector<MapRow>& rows, const std::string& title);

// A square for each layer and step, the darker the more trials are ruined.
std::string squares(const std::vector<MapRow>& rows, const std::string& title);

}  // namespace analysis
