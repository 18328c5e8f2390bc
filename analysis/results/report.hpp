// SPDX-License-Identifier: Apache-2.0
// All that a report of one designed run is made of; each writer visits it.
#pragma once

#include "analysis/conclude/verdict.hpp"
#include "analysis/estimate/analyse.hpp"
#include "analysis/results/kept.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

// A record beside an archive: train/run.json, noise/<host>.<rank>/noise.json.
struct Record {
    std::string what;  // "training", "noise"
    std::filesystem::path archive;
    nlohmann::ordered_json json;  // null if there was none, or it could not be read
};

struct Report {
    DesignedRun run;
    std::shared_ptr<otf2::Reader> archive;  // the training's; null of a table, and of a report that is one of several
    Analysis analysis;
    Verdict verdict;
    Kept kept;
    double node_hour_cost = 0.0;  // 0: not given
    Rules rules;
    std::string schedule;            // as the noise was given it
    std::string seed;                // of the noise
    std::vector<std::string> hosts;  // of the training's ranks; empty text where the archive does not say
    // Command that measures on: with {seconds} for the length of a new run, with {missing} for the seconds that an
    // addition to this run has to have and {job_minutes} for a batch job's time limit then, with {runs} for the number
    // of runs that are missing. May be empty.
    std::string again;
    std::size_t runs = 1;  // of which it is; of several the run is the unit
    std::vector<Record> records;
    std::vector<std::string> notes;
    std::string step_is;  // "a step lasts from MPI_Allreduce to MPI_Allreduce"; empty where it is the training's own
    std::vector<std::string> limits;    // see limits.hpp
    nlohmann::ordered_json own_record;  // of this program
};

// Why the step, or the time in which it is longer than ordinary steps, is left out.
LeftOut reason_of(const Report& report, std::size_t step);

// Factors (labels, controls included) in order of appearance.
std::vector<std::string> factor_names(const Experiment& plan);

// Has the factor no answer, though the run can be trusted? Undecided or insensitive.
bool is_open(const FactorVerdict& factor);

// The longest of the forecasts, which serves all undecided factors; empty if there is none.
std::optional<double> forecast_minutes(const Report& report);

}  // namespace analysis
