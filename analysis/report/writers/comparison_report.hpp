// SPDX-License-Identifier: Apache-2.0
// The report of sets of runs compared.
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
    Record record;  // of its training
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

// The same as Markdown.
void write_markdown(std::ostream& out, const ComparisonReport& report);

// verdict.json, and beside it `effects`: the rows of compare.csv, as flat objects.
nlohmann::ordered_json tidy_json(const ComparisonReport& report);

// compare.csv, runs.csv, aligned_steps.csv, resilience.csv and decomposition_tables() (columns: docs/formats.md),
// effects.svg, aligned.svg, verdict.json, run.json, index.html.
// The folder is made here; throws UsageError if it is there already.
void write_comparison(const std::filesystem::path& folder, const ComparisonReport& report);

}  // namespace analysis
