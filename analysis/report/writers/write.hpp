// SPDX-License-Identifier: Apache-2.0
// Writes a whole report into its folder.
#pragma once

#include "analysis/results/findings.hpp"

#include <filesystem>
#include <string>

namespace analysis {

// Writes verdict.json, summary.json, run.json, the files of write_printed(), the tables of csv.hpp, plots and
// index.html. The folder appears only when complete; throws UsageError if it exists.
void write_report(const std::filesystem::path& folder, const Report& report);

// The file with the printed form for a --format: text, md, json or html.
std::string report_file(const std::string& format);

// Writes the printed forms of a report: a report_file() for each format except html. text: that for a terminal.
void write_printed(const std::filesystem::path& folder, const Report& report, const Findings& found,
                   const std::string& text);

}  // namespace analysis
