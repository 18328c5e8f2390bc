// SPDX-License-Identifier: Apache-2.0
// Parts of slowdowns, for the terminal, the page and tables; for designed runs and sets of runs.
#pragma once

#include "analysis/conclude/decomposition.hpp"
#include "analysis/sections/section.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct NamedDecomposition {
    std::string factor;
    std::string level;
    std::string kind;
    Decomposition of;
    std::string run{};  // with several runs, the run that it is from: its name, or "all"
};

// The decomposition of each judged noise; none if the run does not record the parts of its steps.
std::vector<NamedDecomposition> decompositions(const Report& report);

struct DecompositionTable {
    const char* file;
    void (*write)(const std::filesystem::path& file, const std::vector<NamedDecomposition>& all);
};

// decomposition.csv: the parts of each slowdown, which add up to it. rank_parts.csv: parts of every rank. own_work.csv:
// own work of every rank by region. causes.csv: critical rank, region, rank that waits, resource. With several runs,
// the last column is `run`.
inline constexpr std::size_t decomposition_table_count = 4;
const std::array<DecompositionTable, decomposition_table_count>& decomposition_tables();

// A table with a row for each noise.
NoiseTable table_of(const std::vector<NamedDecomposition>& all);

// The decomposition in one line: "rank 1 spends +9.8 % in backward, rank 0 waits +9.7 % for it; memory, by design: the
// noise was memory.stream"
std::string reading(const Decomposition& found);

nlohmann::ordered_json json_of(const Decomposition& found);

// Two lines: the parts; then rank, region, the rank that waits, and the resource with its evidence.
std::vector<std::string> lines_of(const NamedDecomposition& one);

}  // namespace analysis
