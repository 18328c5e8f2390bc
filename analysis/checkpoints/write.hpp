// SPDX-License-Identifier: Apache-2.0
// Writes what checkpoints cost: for a terminal, as Markdown, as JSON, and as a folder of tables, plot and page.
#pragma once

#include "analysis/checkpoints/estimate.hpp"
#include "analysis/results/plots/palette.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

// "sync hdf5: every 41 min (38 to 44 min); beside io.write every 77 min (70 to 85 min)".
std::string answer_of(const CheckpointReport& report);

// A table as all forms show it; the first `left` columns are words.
struct CheckpointTable {
    std::string title;
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;
    std::size_t left = 2;
    std::string explanation;
};
std::vector<CheckpointTable> tables_of(const CheckpointReport& report);

// Remarks: how the numbers are meant, what was left out.
std::vector<std::string> notes_of(const CheckpointReport& report);

// Names a setting: its mode and format, and the other parts in which the report's settings differ: "async raw".
std::string name_of(const CheckpointSetting& setting, const CheckpointReport& report);

void print(std::ostream& out, const CheckpointReport& report);
void print_markdown(std::ostream& out, const CheckpointReport& report);
nlohmann::ordered_json json_of(const CheckpointReport& report);

// Writes groups.csv, saves.csv and restart_times.csv (columns: docs/formats.md).
void write_tables(const std::filesystem::path& folder, const CheckpointReport& report);

// Writes the plot of the expected cost, and its data, cost.csv.
Plot draw_cost(const std::filesystem::path& folder, const CheckpointReport& report);

// Writes these tables, the plot, run.json and index.html. The folder appears only when complete; throws UsageError if
// it exists.
void write_checkpoints(const std::filesystem::path& folder, const CheckpointReport& report,
                       const nlohmann::ordered_json& own_record);

}  // namespace analysis
