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
    std::string role;  // of a bit: sign, exponent, fraction; empty where that is not known
    std::int64_t flips = 1;
    std::int64_t step = -1;
    ClassShare ruined;
};

// Shares over all locations and bits; where trials had several numbers of flips, of each number.
std::vector<ClassShare> in_front(const OutcomeReport& report);

// "model", "model, 24 flips"
std::string altered(const ClassShare& one);

// "several, 24 flips", "0, sign"; of one flip the name alone.
std::string label(const MapRow& row);

// "35 of 72 trials"
std::string count_text(const ClassShare& share);

// "48.6 %"; "3.1 % of all flips" where trials count by the bits they stand for.
std::string share_text(const ClassShare& share, int digits);

// "0.6 to 15.5 %"; of a single trial why there is none.
std::string interval_text(const ClassShare& share);

std::vector<MapRow> bit_map(const OutcomeReport& report);
std::vector<MapRow> layer_map(const OutcomeReport& report);
std::vector<MapRow> layer_step_map(const OutcomeReport& report);

// A bar for each row with its interval, in groups of strategy and target.
std::string bars(const std::vector<MapRow>& rows, const std::string& title);

// Likewise, a bar for each class that a trial ended in.
std::string class_bars(const std::vector<ClassShare>& shares);

// A square for each layer and step, the darker the more trials are ruined.
std::string squares(const std::vector<MapRow>& rows, const std::string& title);

}  // namespace analysis
