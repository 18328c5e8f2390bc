// index.html: one self-contained page for a cluster operator. The verdict first, then why it can be trusted, then
// detail, then what was run where.
#pragma once

#include "analysis/report/plots/plots.hpp"
#include "analysis/report/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// folder: where the plots' SVGs lie; they are put into the page.
std::string html(const Report& report, const std::vector<Plot>& plots, const std::filesystem::path& folder);

// A plot with its caption.
std::string figure(const Plot& plot, const std::filesystem::path& folder);

}  // namespace analysis
