// SPDX-License-Identifier: Apache-2.0
// Composition of slowdowns, for the terminal, the page and tables: of designed runs and of sets of runs alike.
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
    std::string run{};  // whose it is, where there are several: a name, or "all"
};

// Decomposition of each noise that is judged; none where the run does not say what its steps were made of.
std::vector<NamedDecomposition> decompositions(const Report& report);

struct DecompositionTable {
    const char* file;
    void (*write)(const std::filesystem::path& file, const std::vector<NamedDecomposition>& all);
};

// decomposition.csv: the parts that add up to each slowdown. rank_parts.csv: of every rank. own_work.csv: of every rank
// by region. causes.csv: critical rank, region, who waits, resource. Of several runs with a last column `run`.
inline constexpr std::size_t decomposition_table_count = 4;
const std::array<DecompositionTable, decomposition_table_count>& decomposition_tables();

// One row per noise.
NoiseTable table_of(const std::vector<NamedDecomposition>& all);

// "rank 1 spends +9.8 % in backward, rank 0 waits +9.7 % for it; memory, by design: the noise was memory.stream"
std::string reading(const Decomposition& found);

nlohmann::ordered_json json_of(const Decomposition& found);

// Two lines: the parts; rank, region, who waits and the resource, with the evidence.
std::vector<std::string> lines_of(const NamedDecomposition& one);

}  // namespace analysis
