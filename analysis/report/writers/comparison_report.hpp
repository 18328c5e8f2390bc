// SPDX-License-Identifier: Apache-2.0
// The report on a comparison of sets of runs.
#pragma once

#include "analysis/estimate/sets/comparison.hpp"
#include "analysis/results/report.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

struct ComparedRun {
    std::string name;
    Record record;  // record of the run's training
};

struct ComparisonReport {
    Comparison comparison;
    std::vector<ComparedRun> quiet{};
    std::vector<ComparedRun> noisy{};
    double budget_percent = 1.0;
    std::vector<std::string> notes{};
    nlohmann::ordered_json own_record;
};

void print(std::ostream& out, const ComparisonReport& report);

// Writes the report as Markdown.
void write_markdown(std::ostream& out, const ComparisonReport& report);

// The content of verdict.json, and `effects`: the rows of compare.csv, as flat objects.
nlohmann::ordered_json tidy_json(const ComparisonReport& report);

// Writes compare.csv, runs.csv, aligned_steps.csv, resilience.csv and decomposition_tables() (columns:
// docs/formats.md), effects.svg, aligned.svg, verdict.json, run.json, index.html. Throws UsageError if the folder
// exists.
void write_comparison(const std::filesystem::path& folder, const ComparisonReport& report);

}  // namespace analysis
