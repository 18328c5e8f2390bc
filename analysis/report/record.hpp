// Members of the records beside the archives, which may come from anywhere: what has another type counts as missing.
#pragma once

#include "analysis/report/report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

std::string word(const nlohmann::ordered_json& json, const char* key);  // empty if missing
std::optional<double> number_in(const nlohmann::ordered_json& json, const char* key);
bool flag_in(const nlohmann::ordered_json& json, const char* key, bool if_missing = false);
const nlohmann::ordered_json& object_in(const nlohmann::ordered_json& json, const char* key);  // empty if missing
const nlohmann::ordered_json& list_in(const nlohmann::ordered_json& json, const char* key);    // empty if missing

const Record* training_record(const Report& report);  // nullptr if there is none
std::vector<const Record*> noise_records(const Report& report);

}  // namespace analysis
