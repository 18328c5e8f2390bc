// SPDX-License-Identifier: Apache-2.0
// The contents of a report on one designed run; each writer visits it.
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

// A record of a program: train/run.json, noise/<host>.<rank>/noise.json.
struct Record {
    std::string what;  // "training", "noise"
    std::filesystem::path archive;
    nlohmann::ordered_json json;  // null if there was none, or it could not be read
};

struct Report {
    DesignedRun run;
    std::shared_ptr<otf2::Reader> archive;  // the training's; null for a table, and in a report that is one of several
    Analysis analysis;
    Verdict verdict;
    Kept kept;
    double node_hour_cost = 0.0;  // 0: not given
    Rules rules;
    std::string schedule;            // as given to the noise
    std::string seed;                // seed of the noise
    std::vector<std::string> hosts;  // hosts of the training's ranks; empty text if the archive does not say
    // Command for a further measurement, may be empty. Placeholders: {seconds}, the length of a new run; {missing}, the
    // seconds to add to this run, and {job_minutes}, the time limit of a batch job for that; {runs}, the number of
    // missing runs.
    std::string again;
    std::size_t runs = 1;  // number of runs in the report; with several, the run is the unit
    std::vector<Record> records;
    std::vector<std::string> notes;
    std::string step_is;  // "a step lasts from MPI_Allreduce to MPI_Allreduce"; empty if the training defines its steps
    std::vector<std::string> limits;    // see limits.hpp
    nlohmann::ordered_json own_record;  // record of this program
};

// Why the step, or its time beyond ordinary steps, is left out.
LeftOut reason_of(const Report& report, std::size_t step);

// Labels of factors and controls in order of appearance.
std::vector<std::string> factor_names(const Experiment& plan);

}  // namespace analysis
