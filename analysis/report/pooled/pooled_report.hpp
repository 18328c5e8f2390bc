// SPDX-License-Identifier: Apache-2.0
// The contents of a report on several runs of one design, or on a run with added parts.
#pragma once

#include "analysis/conclude/pooling.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct NamedReport {
    std::string name;                 // "run-2", "run/part-2"
    std::filesystem::path directory;  // holds the run's own report, if there is one
    Report report;
};

// A property of runs, from their records.
struct Difference {
    std::string property;             // "CPUs of the noise"
    std::vector<std::string> values;  // [part], the parts of all runs in order; empty where it is not recorded
    bool differs = false;             // values differ; numbers by more than a twentieth
};

struct PooledReport {
    Report all;  // like the report of one run: effects and verdict pooled, steps and blocks added up
    std::vector<std::vector<NamedReport>> runs;  // [run][part]
    PooledRuns pooled;
    std::vector<Difference> differences;

    bool of_runs() const { return runs.size() > 1; }
    std::vector<const NamedReport*> parts() const;
};

// Pools the reports. again: see Report; {runs} in it stands for the number of missing runs. Throws UsageError, one
// line, for runs that are not of one design: another schedule, another training, other ranks, or a copy of a run.
PooledReport pooled(std::vector<std::vector<NamedReport>> runs, const std::string& again);

// Differences of the parts' records: placement, clock, pages, stolen CPU time, achieved noise.
std::vector<Difference> differences(const std::vector<const NamedReport*>& parts);

// A sentence on what the intervals of this report cover.
std::string scope(const PooledReport& report);

// A sentence, for the terminal and the page, on how a noise's effect differs between runs or parts.
std::string heterogeneity(const PooledReport& report, const PooledEffect& effect);

// Number of pooled runs and parts: "3 runs", "1 run in 2 parts".
std::string what_was_pooled(const PooledReport& report);

// Effects on the job's step with a verdict, controls included, each of the kind by which it is judged.
std::vector<const PooledEffect*> step_effects(const PooledReport& report);

}  // namespace analysis
