// SPDX-License-Identifier: Apache-2.0
// Summary of the built-in controls of many runs: how often the intervals of known effects hold the truth.
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace analysis {

// Percent of the quiet mean step.
struct ControlResult {
    double percent = 0.0;
    double low = 0.0;
    double high = 0.0;
    double truth = 0.0;  // of the placebo 0

    bool holds_truth() const { return low <= truth && truth <= high; }
};

struct RunControls {
    double quiet_step_ms = 0.0;
    bool trustworthy = false;
    std::optional<ControlResult> placebo;
    std::optional<ControlResult> delay;  // its truth is 0 where it was not connected
    std::optional<ControlResult> pause;  // none where it is not judged
};

// From the run's report. Throws Error if there is none.
RunControls read_controls(const std::filesystem::path& run);

// One row per run: `victim`, number of the run from 1, and for each control _percent, _low_percent, _high_percent and,
// but for the placebo, _true_percent.
void write_controls(const std::filesystem::path& file, const std::string& victim, const std::vector<RunControls>& runs);

// How often each truth was inside the interval, and the mean over runs of measured minus true with its 95 % interval, a
// run being one observation. A delay that was not connected is counted apart.
void print_controls(std::ostream& out, const std::string& victim, const std::vector<RunControls>& runs);

}  // namespace analysis
