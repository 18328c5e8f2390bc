// SPDX-License-Identifier: Apache-2.0
// Compares two reports of one design, before and after a change: the difference of each noise's effect.
#pragma once

#include "analysis/estimate/difference.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

// The effects in one report, and the run behind them.
struct DiffSide {
    std::filesystem::path directory;  // as given on the command line
    std::vector<std::string> runs;    // names of the runs in the report; empty for a single run
    std::string verdict_file;
    bool looked = false;  // its intervals are valid at every check
    double quiet_step_ms = 0.0;
    double budget_percent = 0.0;
    double confidence_percent = 0.0;
    double slot_seconds = 0.0;
    std::string schedule;
    std::string step_is;                           // "a step lasts from .."; empty: the training's own steps
    std::map<std::string, std::string> identity;   // text of "model", "ranks", ..
    std::map<std::string, std::string> stressors;  // [noise]
    std::map<std::string, std::string> verdicts;
    std::map<std::string, Estimated> effects;
};

// Reads one side. Throws UsageError where the directory has no report of a designed run, or an untrustworthy one.
// which: "before" or "after", for messages.
DiffSide read_side(const std::string& directory, const std::string& which);

struct NoiseDiff {
    std::string noise;
    std::string stressor;
    Estimated before;
    Estimated after;
    std::string verdict_before;
    std::string verdict_after;
    EstimatedDifference difference;
    double p_holm = 1.0;  // over all noises
};

// "worse": the noise costs more after the change, its interval excludes zero and p after Holm is at most 0.05;
// "better": it costs less; "alike": neither.
namespace change_word {
inline const std::string worse = "worse";
inline const std::string better = "better";
inline const std::string alike = "alike";
}  // namespace change_word
const std::string& change_of(const NoiseDiff& noise);

struct Diff {
    DiffSide before;
    DiffSide after;
    double confidence_percent = 95.0;
    std::vector<NoiseDiff> noises;
    std::vector<std::string> limits;  // other changes, and what the intervals do not include
};

// Throws UsageError for reports that cannot be compared: of the same run, or of different schedules, steps or
// confidences.
Diff diff_of(DiffSide before, DiffSide after);

// The answer in one sentence: "After the change memory.stream costs 3.1 points less (1.2 to 5.0); ..".
std::string answer(const Diff& diff);

void print(std::ostream& out, const Diff& diff);
void print_markdown(std::ostream& out, const Diff& diff);
nlohmann::ordered_json json_of(const Diff& diff);

// Writes diff.csv, diff.json, Markdown and run.json. The folder appears only when complete; throws UsageError if it
// exists.
void write_diff(const std::filesystem::path& folder, const Diff& diff, const nlohmann::ordered_json& own_record);

}  // namespace analysis
