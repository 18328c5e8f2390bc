// The verdicts as JUnit XML, which CI systems show as tests.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace crosstalk {

// One test for each factor: unsafe fails, undecided is skipped. And one that the run can be trusted, which fails with
// the reasons. Takes verdict.json.
std::string junit(const nlohmann::ordered_json& verdict);

}  // namespace crosstalk
