// All that a report of one designed run is made of; each writer visits it.
#pragma once

#include "analysis/analyse.hpp"
#include "analysis/verdict.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
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
    Analysis analysis;
    Verdict verdict;
    Rules rules;
    std::string schedule;  // as the noise was given it
    std::vector<Record> records;
    std::vector<std::string> notes;
    nlohmann::ordered_json own_record;  // of this program
};

// Factors (labels, controls included) in order of appearance.
std::vector<std::string> factor_names(const Experiment& plan);

}  // namespace analysis
