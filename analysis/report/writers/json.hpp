// SPDX-License-Identifier: Apache-2.0
// verdict.json: the verdict for programs (members: docs/formats.md).
#pragma once

#include "analysis/results/findings.hpp"

#include <nlohmann/json_fwd.hpp>

namespace analysis {

nlohmann::ordered_json verdict_json(const Report& report, const Findings& found);

// The verdict for status.json: trustworthy, covered, verdicts by factor (with levels, the most harmful level's).
nlohmann::ordered_json summary_json(const Report& report);

// The report as rows, for tools that read tables: `verdicts`, `controls` and `effects`, each a list of flat objects.
nlohmann::ordered_json tidy_json(const Report& report, const Findings& found);

}  // namespace analysis
