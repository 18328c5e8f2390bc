// SPDX-License-Identifier: Apache-2.0
// Writes a whole report into its folder.
#pragma once

#include "analysis/results/report.hpp"

#include <filesystem>
#include <string>

namespace analysis {

// Writes verdict.json, summary.json, run.json, the files of write_printed(), the tables of csv.hpp, plots and
// index.html. The folder appears only when complete; throws UsageError if it exists.
void write_report(const std::filesystem::path& folder, const Report& report);

// The file with the printed form for a --format: text, md, json or html.
std::string report_file(const std::string& format);

// Writes the printed forms of a report for later printing: a report_file() for each format except html. scope: what the
// intervals cover.
void write_printed(const std::filesystem::path& folder, const Report& report, const std::string& scope,
                   const std::string& text);

// The text of a JSON file; bytes that are not UTF-8 (names from archives) are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace analysis
