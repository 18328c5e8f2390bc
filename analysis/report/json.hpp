// verdict.json: the verdict for programs (members: DESIGN section 2; ours come after those).
#pragma once

#include "analysis/report/report.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

nlohmann::ordered_json verdict_json(const Report& report);

}  // namespace analysis
