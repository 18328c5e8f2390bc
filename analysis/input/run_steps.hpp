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

// A rank's steps, in ms.
struct RankOfRun {
    int rank = 0;
    LongTable ms;             // steps x RunSteps::names
    LongTable parts_ms;       // steps x parts; empty if the run does not say what its steps were made of
    LongTable own_ms;         // steps x RunSteps::regions
    double cpu_share = -1.0;  // CPU time of its process in its time; negative if the run does not say
};

struct RunSteps {
    std::string name;                        // as the user named it
    std::vector<std::string> names;          // "step", then phases
    base::LongColumn<std::int64_t> numbers;  // of steps that every rank completed, ascending
    LongTable ms;                            // steps x names, means over ranks

    // When the first steps of the lowest rank began and ended on its node's clock: no two runs agree to the ns.
    std::vector<std::int64_t> identity{};

    std::vector<RankOfRun> ranks{};
    std::vector<std::string> regions{};  // of own work

    bool numbered = true;                         // steps said their numbers; else they are counted
    base::LongColumn<std::uint64_t> signature{};  // [step]: which regions it entered, see Training
    otf2::StepChoice choice{};                    // that makes the same steps of another archive
    std::vector<std::string> what_trained{};  // strategy, model, data and batch by its record; empty text if unknown
    base::Nanoseconds piece{};                // of emulated work, as long as it was taken to be; zero: no such work
    std::string unfinished{};                 // why the run did not come to its end; empty if it did
};

// Meaning of the members of RunSteps::what_trained.
inline constexpr std::array<const char*, 4> trained_members{"strategy", "model", "data", "batch"};

// The file that read_run_steps() reads of a run directory (train/trace/traces.otf2, else train/steps.csv), an archive
// or a steps.csv. Throws Error if there is none.
std::filesystem::path steps_file(const std::filesystem::path& run);

// choice: which of an archive's steps, as the user asked; unless_numbered: see read_training(). Throws Error if there
// are no steps to be read, or in a steps.csv one whose times cannot be: line and column.
RunSteps read_run_steps(const std::filesystem::path& run, const otf2::StepChoice& choice = {},
                        const otf2::StepChoice& unless_numbered = {});

// However they are named or copied.
bool same_run(const RunSteps& a, const RunSteps& b);

// Keeps only these steps, by their place, and gives them these numbers.
void keep_steps(RunSteps& run, const base::LongColumn<std::size_t>& places, base::LongColumn<std::int64_t> numbers);

}  // namespace analysis
