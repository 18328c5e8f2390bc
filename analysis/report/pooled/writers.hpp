// SPDX-License-Identifier: Apache-2.0
// Writes the report on several runs, or on a run in parts: its files, and its lines on the terminal.
#pragma once

#include "analysis/report/pooled/pooled_report.hpp"
#include "analysis/report/writers/content.hpp"
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
    std::optional<Plot> response;  // if noises have levels
    std::optional<Plot> cores;     // if noise takes cores from the job
};

// Writes verdict.json and summary.json, as for one run but with `pooled`; verdicts.csv, effects.csv, measures.csv,
// response.csv, cores.csv and the tables of decompositions, as for one run; pooled.csv, runs.csv, differences.csv; the
// plots effects.svg, runs.svg, heat_map.svg, response.svg and cores.svg; run.json; index.html. Columns and members:
// docs/formats.md. The folder appears only when complete; throws UsageError if it exists.
void write_pooled(const std::filesystem::path& folder, const PooledReport& report);

// all: the content of report.all.
void print(std::ostream& out, const PooledReport& report, const Content& all);

void write_pooled_tables(const std::filesystem::path& folder, const PooledReport& report, const Content& all);
nlohmann::ordered_json pooled_json(const PooledReport& report, const Content& all);
std::string pooled_html(const PooledReport& report, const Content& all, const PooledPlots& plots,
                        const std::filesystem::path& folder);

// Decompositions: that of all runs together, then that of each part of each run.
std::vector<NamedDecomposition> decompositions(const PooledReport& report);

}  // namespace analysis
