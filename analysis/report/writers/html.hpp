// SPDX-License-Identifier: Apache-2.0
// index.html: one self-contained page for a cluster operator. The verdict first, then why it can be trusted, then
// detail, then what was run where.
#pragma once

#include "analysis/results/plots/plots.hpp"
#include "analysis/results/report.hpp"
#include "analysis/sections/noise_table.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// folder: where the plots' SVGs lie; they are put into the page.
std::string html(const Report& report, const std::vector<Plot>& plots, const std::filesystem::path& folder);

// Common parts of pages of one run and of several. scope: what the intervals cover, a sentence or two.
std::string banner(const Verdict& verdict);
std::string verdict_section(const Report& report, const std::string& scope);
std::string limits_box(const Report& report);
std::string noise_table(const Report& report, const NoiseTable& noises);
std::string coloured_name(const Report& report, const std::string& factor, const std::string& level);
std::string list(const std::vector<std::string>& items);
std::string facts_table(const nlohmann::ordered_json& record);  // of one program: command, host, processor, ..

// A plot with its caption.
std::string figure(const Plot& plot, const std::filesystem::path& folder);

}  // namespace analysis
