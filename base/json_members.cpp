// SPDX-License-Identifier: Apache-2.0
#include "base/json_members.hpp"

#include <nlohmann/json.hpp>

namespace base {

namespace {

const nlohmann::ordered_json* member(const nlohmann::ordered_json& json, const char* key)
{
    if (!json.is_object()) return nullptr;
    const auto found = json.find(key);
    return found == json.end() ? nullptr : &*found;
}

}  // namespace

std::string word(const nlohmann::ordered_json& json, const char* key)
{
    const nlohmann::ordered_json* found = member(json, key);
    return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> number_in(const nlohmann::ordered_json& json, const char* key)
{
    const nlohmann::ordered_json* found = member(json, key);
    return found != nullptr && found->is_number() ? std::optional{found->get<double>()} : std::nullopt;
}

bool flag_in(const nlohmann::ordered_json& json, const char* key, bool if_missing)
{
    const nlohmann::ordered_json* found = member(json, key);
    return found != nullptr && found->is_boolean() ? found->get<bool>() : if_missing;
}

const nlohmann::ordered_json& object_in(const nlohmann::ordered_json& json, const char* key)
{
    static const nlohmann::ordered_json none = nlohmann::ordered_json::object();
    const nlohmann::ordered_json* found = member(json, key);
    return found != nullptr && found->is_object() ? *found : none;
}

const nlohmann::ordered_json& list_in(const nlohmann::ordered_json& json, const char* key)
{
    static const nlohmann::ordered_json none = nlohmann::ordered_json::array();
    const nlohmann::ordered_json* found = member(json, key);
    return found != nullptr && found->is_array() ? *found : none;
}

}  // namespace base
