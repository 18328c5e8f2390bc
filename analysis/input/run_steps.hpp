// SPDX-License-Identifier: Apache-2.0
// The steps of one run for comparison with other runs: from its archive, or from its steps.csv.
#pragma once

#include "analysis/input/step_work/work.hpp"
#include "base/columns/long_column.hpp"
#include "base/units.hpp"
#include "trace-tools/steps/chosen_steps.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// Steps of a rank; times in ms.
struct RankOfRun {
    int rank = 0;
    LongTable ms;             // steps x RunSteps::names
    LongTable parts_ms;       // steps x parts; empty if the run does not record the parts of its steps
    LongTable own_ms;         // steps x RunSteps::regions
    double cpu_share = -1.0;  // CPU time of its process divided by elapsed time; negative if not recorded
};

struct RunSteps {
    std::string name;                        // as the user named it
    std::vector<std::string> names;          // "step", then phases
    base::LongColumn<std::int64_t> numbers;  // numbers of the steps that every rank completed, ascending
    LongTable ms;                            // steps x names, mean over ranks

    // Begin and end of the first steps of the lowest rank on its node's clock: no two runs agree to the ns.
    std::vector<std::int64_t> identity{};

    std::vector<RankOfRun> ranks{};
    std::vector<std::string> regions{};  // regions of own work

    bool numbered = true;                         // true: steps have recorded numbers; false: they are counted
    base::LongColumn<std::uint64_t> signature{};  // [step]: hash of the regions that it entered, see Training
    otf2::StepChoice choice{};                    // choice that finds the same steps in another archive
    std::vector<std::string> what_trained{};      // strategy, model, data and batch by its record; empty if unknown
    base::Nanoseconds piece{};                    // assumed length of a piece of emulated work; zero: no emulated work
    std::string unfinished{};                     // why the run did not finish; empty if it did
};

// Meaning of the members of RunSteps::what_trained.
inline constexpr std::array<const char*, 4> trained_members{"strategy", "model", "data", "batch"};

// The file that read_run_steps() reads for a run directory (train/trace/traces.otf2, else train/steps.csv), an archive
// or a steps.csv. Throws Error if there is none.
std::filesystem::path steps_file(const std::filesystem::path& run);

// Reads the steps of a run. choice: the user's choice of an archive's steps. unless_numbered: see read_training().
// Throws Error if there are no steps, or with line and column for an impossible time in a steps.csv.
RunSteps read_run_steps(const std::filesystem::path& run, const otf2::StepChoice& choice = {},
                        const otf2::StepChoice& unless_numbered = {});

// True if both are the same run, whatever their names and wherever their copies.
bool same_run(const RunSteps& a, const RunSteps& b);

// Keeps only the steps at these indices, and gives them these numbers.
void keep_steps(RunSteps& run, const base::LongColumn<std::size_t>& places, base::LongColumn<std::int64_t> numbers);

}  // namespace analysis
