// SPDX-License-Identifier: Apache-2.0
// Records of programs on a page.
#pragma once

#include "analysis/results/report.hpp"

#include <string>
#include <vector>

namespace analysis {

// A program's facts, and the work at each level that the noise process recorded.
std::string record_html(const Record& record);

std::string facts_table(const nlohmann::ordered_json& record);  // facts on one program: command, host, processor, ..
std::string made_by(const nlohmann::ordered_json& own_record, const std::vector<std::string>& files);

}  // namespace analysis
