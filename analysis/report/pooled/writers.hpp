// SPDX-License-Identifier: Apache-2.0
// The report of several runs, or of a run in parts: its files, and its lines on the terminal.
#pragma once

#include "analysis/report/pooled/pooled_report.hpp"
#include "analysis/results/plots/plots.hpp"
#include "analysis/sections/decomposition/decomposition_section.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

struct PooledPlots {
    Plot effects;
    Plot runs;
    Plot heat_map;
    Plot phases_over_time;
    std::optional<Plot> response;  // where noises have levels
};

// verdict.json and summary.json, as of one run and with `pooled` in it; verdicts.csv, effects.csv, measures.csv,
// response.csv and the tables of decompositions as of one run, pooled.csv, runs.csv, differences.csv; the plots
// effects.svg, runs.svg, heat_map.svg and response.svg; run.json; index.html. Columns and members: docs/formats.md. The
// folder appears when all of it is there; throws UsageError if it is there already.
void write_pooled(const std::filesystem::path& folder, const PooledReport& report);

void print(std::ostream& out, const PooledReport& report);

void write_pooled_tables(const std::filesystem::path& folder, const PooledReport& report);
nlohmann::ordered_json pooled_json(const PooledReport& report);
std::string pooled_html(const PooledReport& report, const PooledPlots& plots, const std::filesystem::path& folder);

// Decompositions of all runs together, then of each part of each run.
std::vector<NamedDecomposition> decompositions(const PooledReport& report);

}  // namespace analysis
