// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/record.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

double dose_in(const nlohmann::ordered_json& level, const std::string& amount)
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
