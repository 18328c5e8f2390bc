// SPDX-License-Identifier: Apache-2.0
// The verdicts as JUnit XML, which CI systems show as tests.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace crosstalk {

// One test for each factor: unsafe fails, a noise without an answer is skipped. And one that the run can be trusted,
// which fails with the reasons. Takes verdict.json.
std::string junit(const nlohmann::ordered_json& verdict);

// One test, that there is a report, which ended in an error: an earlier run's file must not be mistaken for this
// one's.
std::string junit_without_report(const std::string& why);

}  // namespace crosstalk
