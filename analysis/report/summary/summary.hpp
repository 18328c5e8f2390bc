// SPDX-License-Identifier: Apache-2.0
// Summarises reports of many runs, and how effects change over time.
#pragma once

#include "analysis/estimate/inference.hpp"
#include "base/openmetrics.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

namespace analysis {

struct NoiseInRun {
    std::string factor;
    std::string level;
    std::string stressor;
    std::string verdict;
    double percent = 0.0;
    Interval interval;
    // One of several numbers of cores that the run tried: its verdict is part of an answer, and no reason for an alarm.
    bool tried = false;
};

// Number of cores that a job must keep, by the run's report.
struct CoresInRun {
    std::optional<int> keep;  // none: the report gives no number
    int at_least = 0;
    int most = 0;  // largest number that was measured
    std::string neighbour;
};

struct RunSummary {
    std::filesystem::path directory;        // as given on the command line
    std::filesystem::path report;           // folder that holds its verdict.json
    std::string started;                    // empty if not recorded
    std::optional<std::int64_t> started_s;  // start in seconds since 1970
    std::string hosts;
    std::string node_type;  // model of the processor; empty if not recorded
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

// The names of its noises, without levels: "io.write memory.stream".
std::string noises_in(const RunSummary& run);

// Equal for runs that repeat one measurement: the same training on the same hosts under the same noises.
using RunSeries = std::tuple<std::string, std::string, std::string, std::string, std::size_t, std::string>;
RunSeries series_of(const RunSummary& run);

// A straight line through the effects in the trustworthy runs of one training (hosts, model, data, strategy, ranks).
struct Trend {
    RunSummary of;  // the last of the runs, which names the training
    std::string factor;
    std::string level;
    std::size_t runs = 0;
    double days = 0.0;    // from the first run to the last
    double change = 0.0;  // percentage points over `days`
    Interval interval;    // 95 % interval of the change; the run is the unit
};

// The runs on the same hosts that began in one week.
struct Week {
    std::string node_type;
    std::string hosts;
    std::string week;          // ISO 8601: 2026-W48
    std::string begins;        // its Monday: 2026-11-23
    std::int64_t begin_s = 0;  // its start in seconds since 1970
    std::size_t runs = 0;
    std::size_t trustworthy = 0;
    std::string verdict;   // the worst verdict: unsafe, untrusted (one run was), undecided, insensitive, safe
    std::string noise;     // the noise with that verdict; empty if untrusted
    double percent = 0.0;  // effect of the noise; the largest of equal verdicts
    Interval interval;
};

struct NoReport {
    std::filesystem::path directory;
    std::string why;
};

struct Summary {
    std::vector<RunSummary> runs;  // by start; runs without a recorded start come last
    std::vector<Trend> trends;     // of trainings with three runs or more
    std::vector<Week> weeks;       // by node type, hosts and week; without runs of unknown start
    std::vector<NoReport> without;
};

// Each is a run's directory, or the report's own, or its cores.json, or the directory of runs with several numbers of
// threads; one that is given twice counts once. Throws Error if none has a report.
Summary summary_of(const std::vector<std::string>& directories);

// The noises with their levels, in order of appearance.
std::vector<std::string> noises_of(const Summary& summary);
const NoiseInRun* find(const RunSummary& run, const std::string& noise);

std::vector<Week> weeks_of(const std::vector<RunSummary>& runs);

// The newest run of each series, as indices into `runs`.
std::vector<std::size_t> newest_runs(const Summary& summary);

// A row for each node type and its hosts, a column for each week up to the newest, at most `most_weeks`. A cell has the
// worst verdict and its noise. The header comes first.
std::vector<std::vector<std::string>> week_map(const Summary& summary, std::size_t most_weeks);

// A row for each number of cores in the runs, by node type and job; the head comes first. Empty if there is none.
std::vector<std::vector<std::string>> cores_table(const Summary& summary);

// Effects, bounds, verdicts and trust of the newest runs for Prometheus: names in docs/formats.md.
std::vector<base::MetricFamily> metrics_of(const Summary& summary);

void print(std::ostream& out, const Summary& summary);
void print_markdown(std::ostream& out, const Summary& summary);
nlohmann::ordered_json json_of(const Summary& summary);

// Writes summary.csv, trends.csv, weeks.csv, cores.csv, the plot trend.svg, index.html, run.json. Columns:
// docs/formats.md. The folder appears only when complete; throws UsageError if it exists.
void write_summary(const std::filesystem::path& folder, const Summary& summary,
                   const nlohmann::ordered_json& own_record);

}  // namespace analysis
