// SPDX-License-Identifier: Apache-2.0
// All that a report of several runs of one design, or of a run with added parts, is made of.
#pragma once

#include "analysis/conclude/pooling.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

struct NamedReport {
    std::string name;                 // "run-2", "run/part-2"
    std::filesystem::path directory;  // its own report, if there is one, is in it
    Report report;
};

// A property of runs, as their records have it.
struct Difference {
    std::string property;             // "CPUs of the noise"
    std::vector<std::string> values;  // [part], all runs' parts in order; empty where no record says
    bool differs = false;             // a number by more than a twentieth
};

struct PooledReport {
    Report all;  // as if it were of one run: effects and verdict pooled, steps and blocks added up
    std::vector<std::vector<NamedReport>> runs;  // [run][part]
    PooledRuns pooled;
    std::vector<Difference> differences;

    bool of_runs() const { return runs.size() > 1; }
    std::vector<const NamedReport*> parts() const;
};

// again: see Report; {runs} in it stands for the number of runs that are missing. Throws UsageError, one line, for
// runs that are no runs of one design: another schedule, another training, other ranks, or a copy of a run.
PooledReport pooled(std::vector<std::vector<NamedReport>> runs, const std::string& again);

// Where and how each part was run, by the records: placement, clock, pages, what the host took, what noise achieved.
std::vector<Difference> differences(const std::vector<const NamedReport*>& parts);

// Scope of the intervals of this report.
std::string scope(const PooledReport& report);

// Heterogeneity of a noise's effect over runs, or parts: a sentence for the terminal and the page.
std::string heterogeneity(const PooledReport& report, const PooledEffect& effect);

// "3 runs", "1 run in 2 parts"
std::string what_was_pooled(const PooledReport& report);

// The effects on the job's step that a verdict is about, controls included, each by the kind it is judged by.
std::vector<const PooledEffect*> step_effects(const PooledReport& report);

}  // namespace analysis
