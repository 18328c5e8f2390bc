// SPDX-License-Identifier: Apache-2.0
// Summary of the controls of many runs: how often the intervals of known effects include the truth.
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

// An estimate, in percent of the mean quiet step.
struct ControlResult {
    double percent = 0.0;
    double low = 0.0;
    double high = 0.0;
    double truth = 0.0;  // 0 for the placebo

    bool holds_truth() const { return low <= truth && truth <= high; }
};

struct RunControls {
    double quiet_step_ms = 0.0;
    bool trustworthy = false;
    std::optional<ControlResult> placebo;
    std::optional<ControlResult> delay;  // its truth is 0 if the training was not connected to the control
    std::optional<ControlResult> pause;  // no value if the pause is not judged
};

// Reads the controls of a run's report. Throws Error if there is none.
RunControls read_controls(const std::filesystem::path& run);

// Writes a row for each run: `victim`, number of the run from 1, and for each control _percent, _low_percent,
// _high_percent and, except for the placebo, _true_percent.
void write_controls(const std::filesystem::path& file, const std::string& victim, const std::vector<RunControls>& runs);

// Prints how often each truth was inside the interval, and the mean over runs of measured minus true value with its 95
// % interval; each run is one observation. Delays that were not connected are counted separately.
void print_controls(std::ostream& out, const std::string& victim, const std::vector<RunControls>& runs);

}  // namespace analysis
