// SPDX-License-Identifier: Apache-2.0
// Reads the records of a run's programs.
#pragma once

#include "analysis/results/report.hpp"
#include "base/json_members.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

using base::flag_in;
using base::list_in;
using base::number_in;
using base::object_in;
using base::word;

// The dose of a level, in "bytes" or "operations" per second for which it was assigned. Records of earlier versions
// lack assigned times; for these it is per second in which the noise was on and ready.
double dose_in(const nlohmann::ordered_json& level, const std::string& amount);

const Record* training_record(const Report& report);  // nullptr if there is none
std::vector<const Record*> noise_records(const Report& report);

}  // namespace analysis
