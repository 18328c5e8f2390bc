// SPDX-License-Identifier: Apache-2.0
// Reports of many runs side by side, and how effects change over time.
#pragma once

#include "analysis/estimate/inference.hpp"
#include "base/openmetrics.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

struct NoiseInRun {
    std::string factor;
    std::string level;
    std::string stressor;
    std::string verdict;
    double percent = 0.0;
    Interval interval;
};

// Number of cores that a job must keep, by the run's report.
struct CoresInRun {
    std::optional<int> keep;  // none: the run does not say
    int at_least = 0;
    int most = 0;  // that were measured
    std::string neighbour;
};

struct RunSummary {
    std::filesystem::path directory;        // as it was given
    std::filesystem::path report;           // that holds its verdict.json
    std::string started;                    // empty if no record says
    std::optional<std::int64_t> started_s;  // the same since 1970
    std::string hosts;
    std::string node_type;  // its processor; empty if no record says
    std::string model;
    std::string data;
    std::string strategy;
    std::size_t ranks = 0;
    bool trustworthy = false;
    bool covered = false;
    double quiet_step_ms = 0.0;
    double budget_percent = 0.0;
    std::vector<NoiseInRun> noises;
    std::vector<CoresInRun> cores;
};

// Straight line through the effects of the trustworthy runs of one training (hosts, model, data, strategy, ranks).
struct Trend {
    RunSummary of;  // the last of the runs
    std::string factor;
    std::string level;
    std::size_t runs = 0;
    double days = 0.0;    // from the first to the last
    double change = 0.0;  // percentage points in that time
    Interval interval;    // of the change, 95 %; the run is the unit
};

// All runs on the same hosts that began in one week.
struct Week {
    std::string node_type;
    std::string hosts;
    std::string week;          // ISO 8601: 2026-W48
    std::string begins;        // its Monday: 2026-11-23
    std::int64_t begin_s = 0;  // the same since 1970
    std::size_t runs = 0;
    std::size_t trustworthy = 0;
    std::string verdict;   // the worst: unsafe, untrusted (a run was), undecided, insensitive, safe
    std::string noise;     // that has it; empty if untrusted
    double percent = 0.0;  // its effect; of equal verdicts the largest
    Interval interval;
};

struct NoReport {
    std::filesystem::path directory;
    std::string why;
};

struct Summary {
    std::vector<RunSummary> runs;  // by start, those without one last
    std::vector<Trend> trends;     // of three runs or more
    std::vector<Week> weeks;       // by node type, hosts and week; runs without a start are in none
    std::vector<NoReport> without;
};

// Each is a run's directory, or the report's own, or its cores.json; one that is given twice counts once. Throws Error
// if none has a report.
Summary summary_of(const std::vector<std::string>& directories);

// Noises with their levels, in order of appearance.
std::vector<std::string> noises_of(const Summary& summary);
const NoiseInRun* find(const RunSummary& run, const std::string& noise);

std::vector<Week> weeks_of(const std::vector<RunSummary>& runs);

// The newest run of each training on the same hosts, as indices into `runs`.
std::vector<std::size_t> newest_runs(const Summary& summary);

// One row per node type and its hosts, one column per week up to the newest, at most `most_weeks`: the worst
// verdict and its noise. The head comes first.
std::vector<std::vector<std::string>> week_map(const Summary& summary, std::size_t most_weeks);

// A row for each number of cores in the runs, by node type and job; the head comes first. Empty if there is none.
std::vector<std::vector<std::string>> cores_table(const Summary& summary);

// Effects, bounds, verdicts and trust of the newest runs for Prometheus: names in docs/formats.md.
std::vector<base::MetricFamily> metrics_of(const Summary& summary);

void print(std::ostream& out, const Summary& summary);
void print_markdown(std::ostream& out, const Summary& summary);
nlohmann::ordered_json json_of(const Summary& summary);

// summary.csv, trends.csv, weeks.csv, the plot trend.svg, index.html, run.json. Columns: docs/formats.md. The folder
// appears when all of it is there; throws UsageError if it is there already.
void write_summary(const std::filesystem::path& folder, const Summary& summary,
                   const nlohmann::ordered_json& own_record);

}  // namespace analysis
