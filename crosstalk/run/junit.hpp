// SPDX-License-Identifier: Apache-2.0
// The verdicts as JUnit XML, which CI systems show as tests.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace crosstalk {

// Makes one test for each factor: an unsafe one fails, one without an answer is skipped. Another test fails, with the
// reasons, if the run cannot be trusted. Takes the content of verdict.json.
std::string junit(const nlohmann::ordered_json& verdict);

// Makes one test, "there is a report", that ended in an error. It replaces the file of an earlier run, which could be
// mistaken for this one's.
std::string junit_without_report(const std::string& why);

}  // namespace crosstalk
