// SPDX-License-Identifier: Apache-2.0
// Reads members of JSON that may come from anywhere: a member of a wrong type counts as missing.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace base {

std::string word(const nlohmann::ordered_json& json, const char* key);  // empty if missing
std::optional<double> number_in(const nlohmann::ordered_json& json, const char* key);
bool flag_in(const nlohmann::ordered_json& json, const char* key, bool if_missing = false);
const nlohmann::ordered_json& object_in(const nlohmann::ordered_json& json, const char* key);  // empty if missing
const nlohmann::ordered_json& list_in(const nlohmann::ordered_json& json, const char* key);    // empty if missing

}  // namespace base
