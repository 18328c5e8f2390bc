// SPDX-License-Identifier: Apache-2.0
// verdict.json: the verdict for programs (members: docs/formats.md).
#pragma once

#include "analysis/report/writers/content.hpp"

#include <nlohmann/json_fwd.hpp>

namespace analysis {

nlohmann::ordered_json verdict_json(const Content& content);

// The verdict for status.json: trustworthy, covered, verdicts by factor (with levels, the most harmful level's).
nlohmann::ordered_json summary_json(const Verdict& verdict);

// The report as rows, for tools that read tables: `verdicts`, `controls` and `effects`, each a list of flat objects.
nlohmann::ordered_json tidy_json(const Content& content);

}  // namespace analysis
