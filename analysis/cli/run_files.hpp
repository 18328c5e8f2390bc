// SPDX-License-Identifier: Apache-2.0
// Which files in a directory make up a run: its own, those of parts that were added to it, those of a set of runs.
#pragma once

#include "analysis/cli/settings.hpp"
#include "analysis/results/report.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

// One training with the noise beside it.
struct RunFiles {
    std::string name;  // "run-2", or "run-2/part-2" of an added part
    std::filesystem::path directory;
    std::filesystem::path train;
    std::vector<std::filesystem::path> noise;
    Settings settings;     // as given, and where nothing was given as `crosstalk run` recorded them beside the files
    std::string pruned{};  // when the training's archive was removed, so that a table of its steps stands in; or empty
};

// A run and the parts that were added to it, in order.
using RunParts = std::vector<RunFiles>;

// Options of the command line, which go before a run's record.
struct Given {
    std::string steps;  // the training's steps instead of those in DIR/train
    bool warm_up = false;
    bool budget = false;
};

// The budget that `crosstalk run` was given for the run in that directory.
std::optional<std::string> recorded_budget(const std::filesystem::path& directory);

// Was the run there to end as soon as all is decided, so that its intervals hold at every look?
bool ends_when_decided(const std::filesystem::path& directory);

// The run of each directory, with DIR/part-2, DIR/part-3, ..; for a directory that holds none itself DIR/run-1,
// DIR/run-2, ... Throws Error where there is none.
std::vector<RunParts> runs_in(const std::vector<std::string>& directories, const Settings& settings,
                              const Given& given);

std::vector<std::filesystem::path> archives_of(const std::vector<RunParts>& runs);

// The reason for distrust where the record of a noise cannot be read, or is gone though its rows are there; else empty.
// Archives of other tools come without records.
std::string lost_noise_record(const Record& record);

// The record beside an archive DIR/trace/traces.otf2 or a table of steps: DIR/name. It only adds to the report, so a
// bad one is left out, with a note.
Record record_beside(const std::filesystem::path& archive, const std::string& what, const std::string& name,
                     std::vector<std::string>& notes);

}  // namespace analysis
