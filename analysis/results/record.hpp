// SPDX-License-Identifier: Apache-2.0
// Reads members of the records of a run's programs. Records may come from anywhere: a member of a wrong type counts as
// missing.
#pragma once

#include "analysis/results/report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

std::string word(const nlohmann::ordered_json& json, const char* key);  // empty if missing
std::optional<double> number_in(const nlohmann::ordered_json& json, const char* key);
bool flag_in(const nlohmann::ordered_json& json, const char* key, bool if_missing = false);
const nlohmann::ordered_json& object_in(const nlohmann::ordered_json& json, const char* key);  // empty if missing
const nlohmann::ordered_json& list_in(const nlohmann::ordered_json& json, const char* key);    // empty if missing

// The dose of a level, in "bytes" or "operations" per second for which it was assigned. Records of earlier versions
// lack assigned times; for these it is per second in which the noise was on and ready.
double dose_in(const nlohmann::ordered_json& level, const std::string& amount);

const Record* training_record(const Report& report);  // nullptr if there is none
std::vector<const Record*> noise_records(const Report& report);

}  // namespace analysis
