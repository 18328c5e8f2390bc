// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/record.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

namespace {

using Json = nlohmann::ordered_json;

const Json* member(const Json& json, const char* key)
{
    if (!json.is_object()) return nullptr;
    const auto found = json.find(key);
    return found == json.end() ? nullptr : &*found;
}

}  // namespace

std::string word(const Json& json, const char* key)
{
    const Json* found = member(json, key);
    return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> number_in(const Json& json, const char* key)
{
    const Json* found = member(json, key);
    return found != nullptr && found->is_number() ? std::optional{found->get<double>()} : std::nullopt;
}

bool flag_in(const Json& json, const char* key, bool if_missing)
{
    const Json* found = member(json, key);
    return found != nullptr && found->is_boolean() ? found->get<bool>() : if_missing;
}

const Json& object_in(const Json& json, const char* key)
{
    static const Json none = Json::object();
    const Json* found = member(json, key);
    return found != nullptr && found->is_object() ? *found : none;
}

const Json& list_in(const Json& json, const char* key)
{
    static const Json none = Json::array();
    const Json* found = member(json, key);
    return found != nullptr && found->is_array() ? *found : none;
}

double dose_in(const Json& level, const std::string& amount)
{
    const double assigned_s = number_in(level, "assigned_s").value_or(0.0);
    const std::optional<double> done = number_in(level, amount.c_str());
    if (assigned_s > 0.0 && done) return *done / assigned_s;
    return number_in(level, (amount + "_per_s").c_str()).value_or(0.0);
}

const Record* training_record(const Report& report)
{
    for (const Record& record : report.records)
        if (record.what == "training" && record.json.is_object()) return &record;
    return nullptr;
}

std::vector<const Record*> noise_records(const Report& report)
{
    std::vector<const Record*> found;
    for (const Record& record : report.records)
        if (record.what == "noise" && record.json.is_object()) found.push_back(&record);
    return found;
}

}  // namespace analysis
