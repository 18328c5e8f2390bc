// SPDX-License-Identifier: Apache-2.0
// Finds the files that make up a run: its own, those of its added parts, or those of a set of runs.
#pragma once

#include "analysis/cli/settings.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

// One training, with the noise that ran with it.
struct RunFiles {
    std::string name;  // "run-2"; for an added part "run-2/part-2"
    std::filesystem::path directory;
    std::filesystem::path train;
    std::vector<std::filesystem::path> noise;
    Settings settings;     // from the command line, else from request.json of `crosstalk run`
    std::string pruned{};  // when the training's archive was replaced by a table of its steps; empty if it was not
};

// A run, then its added parts, in order.
using RunParts = std::vector<RunFiles>;

// Options given on the command line, which take precedence over a run's record.
struct Given {
    std::string steps;  // path of the training's steps, instead of those in DIR/train
    bool warm_up = false;
    bool budget = false;
};

// Throws Error that names the right command if the directory is that of a campaign.
void refuse_campaign(const std::filesystem::path& directory);

// The budget that `crosstalk run` recorded for the run in that directory.
std::optional<std::string> recorded_budget(const std::filesystem::path& directory);

// Whether the run was to end once every verdict is decided, and if so, whether it went on to its --max-duration.
Looks looks_at(const std::filesystem::path& directory);

// The run of each directory, with its parts DIR/part-2, DIR/part-3, ... A directory without a run of its own stands for
// DIR/run-1, DIR/run-2, ... Throws Error where there is no run.
std::vector<RunParts> runs_in(const std::vector<std::string>& directories, const Settings& settings,
                              const Given& given);

std::vector<std::filesystem::path> archives_of(const std::vector<RunParts>& runs);

// The reason for distrust if a noise's record cannot be read, or is missing although its rows exist; else empty.
// Archives of other tools have no records, so for them it is empty.
std::string lost_noise_record(const Record& record);

// Reads a record: DIR/name, for a table of steps or an archive DIR/trace/traces.otf2 in that directory. Records are
// optional, so a bad one is skipped with a note.
Record record_beside(const std::filesystem::path& archive, const std::string& what, const std::string& name,
                     std::vector<std::string>& notes);

}  // namespace analysis
