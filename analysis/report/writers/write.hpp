// SPDX-License-Identifier: Apache-2.0
// Writes a whole report into its folder.
#pragma once

#include "analysis/report/writers/content.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

namespace analysis {

// Writes the files of write_texts(), the tables and plots of all sections and index.html. The folder appears only when
// complete; throws UsageError if it exists.
void write_report(const std::filesystem::path& folder, const Report& report);

// The file with the printed form for a --format: text, md, json or html.
std::string report_file(const std::string& format);

// Writes the files of a report that are neither pages, tables nor plots: a report_file() for each format except html,
// verdict.json, summary.json and run.json. text: the form for a terminal.
void write_texts(const std::filesystem::path& folder, const Content& content, const std::string& text,
                 const nlohmann::ordered_json& verdict);

}  // namespace analysis
