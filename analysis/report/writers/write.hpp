// Writes a whole report into its folder.
#pragma once

#include "analysis/report/report.hpp"

#include <filesystem>

namespace analysis {

// verdict.json, summary.json, run.json, the tables of csv.hpp, plots, index.html. The folder appears when all of it is
// there; throws UsageError if it is there already.
void write_report(const std::filesystem::path& folder, const Report& report);

// As a file; bytes that are no UTF-8 (names from archives) are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace analysis
