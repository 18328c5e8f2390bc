// SPDX-License-Identifier: Apache-2.0
// The page of trials of soft errors.
#pragma once

#include "analysis/outcomes/tables.hpp"
#include "analysis/results/plots/palette.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace analysis {

// folder: where its plots lie.
std::string page_of(const OutcomeReport& report, const std::optional<Plot>& stored,
                    const std::filesystem::path& folder);

}  // namespace analysis
