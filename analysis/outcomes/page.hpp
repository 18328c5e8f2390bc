// SPDX-License-Identifier: Apache-2.0
// The HTML page on soft-error trials.
#pragma once

#include "analysis/outcomes/tables.hpp"
#include "analysis/results/plots/palette.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace analysis {

// folder: the folder of the page's plots.
std::string page_of(const OutcomeReport& report, const std::optional<Plot>& stored,
                    const std::filesystem::path& folder);

}  // namespace analysis
