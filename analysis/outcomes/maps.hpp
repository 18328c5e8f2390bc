// SPDX-License-Identifier: Apache-2.0
// Maps of ruined trials by bit, by layer and by step, as tables and drawings.
#pragma once

#include "analysis/outcomes/tables.hpp"

#include <string>
#include <vector>

namespace analysis {

// A row of a map. of: the bit or tensor that the row is about; flips: number of flipped bits; step: -1 for all.
struct MapRow {
    std::string strategy;
    std::string target;
    std::string of;
    std::string role;  // role of a bit: sign, exponent, fraction; empty if not known
    std::int64_t flips = 1;
    std::int64_t step = -1;
    ClassShare ruined;
};

// Shares over all locations and bits; with several numbers of flips, a share for each.
std::vector<ClassShare> in_front(const OutcomeReport& report);

// The altered target, with the number of flips if above one: "model", "model, 24 flips".
std::string altered(const ClassShare& one);

// "several, 24 flips", "0, sign"; with one flip the name alone.
std::string label(const MapRow& row);

// The number of trials with the class: "35 of 72 trials".
std::string count_text(const ClassShare& share);

// "48.6 %"; "3.1 % of all flips" where trials are weighted by the bits that they represent.
std::string share_text(const ClassShare& share, int digits);

// "0.6 to 15.5 %"; for a single trial, the reason why there is no interval.
std::string interval_text(const ClassShare& share);

std::vector<MapRow> bit_map(const OutcomeReport& report);
std::vector<MapRow> layer_map(const OutcomeReport& report);
std::vector<MapRow> layer_step_map(const OutcomeReport& report);

// A drawing with a bar and its interval for each row, in groups by strategy and target.
std::string bars(const std::vector<MapRow>& rows, const std::string& title);

// A drawing with a bar for each class in which any trial ended.
std::string class_bars(const std::vector<ClassShare>& shares);

// A drawing with a square for each layer and step; the more trials are ruined, the darker it is.
std::string squares(const std::vector<MapRow>& rows, const std::string& title);

}  // namespace analysis
