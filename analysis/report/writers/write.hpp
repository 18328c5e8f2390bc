// SPDX-License-Identifier: Apache-2.0
// Writes a whole report into its folder.
#pragma once

#include "analysis/results/report.hpp"

#include <filesystem>
#include <string>

namespace analysis {

// verdict.json, summary.json, run.json, what write_printed() does, the tables of csv.hpp, plots, index.html. The folder
// appears when all of it is there; throws UsageError if it is there already.
void write_report(const std::filesystem::path& folder, const Report& report);

// The file that holds what --format prints: text, md, json or html.
std::string report_file(const std::string& format);

// The printed forms of a report, to be printed again: a report_file() for each format but html. scope: what the
// intervals cover.
void write_printed(const std::filesystem::path& folder, const Report& report, const std::string& scope,
                   const std::string& text);

// As a file; bytes that are no UTF-8 (names from archives) are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace analysis
