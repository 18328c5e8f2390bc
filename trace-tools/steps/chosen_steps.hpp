// SPDX-License-Identifier: Apache-2.0
// The steps of an archive: those that a user chose, or else those that are detected.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/steps/step_collection.hpp"

#include <functional>
#include <optional>
#include <string>

namespace otf2 {

// The options --step-region and --step-from; at most one of them is set.
struct StepChoice {
    std::string region;  // steps are the visits of this region
    std::string from;    // steps last from one visit of this region to the next
    int every = 1;       // .. or to the n-th next visit; also if the region is detected
    bool given() const { return !region.empty() || !from.empty(); }

    // Throws UsageError if both are set, or if `every` is less than 1 or cannot be combined with the choice.
    void check() const;
};

struct ChosenSteps {
    std::string name;      // "step", or "MPI_Allreduce to MPI_Allreduce"
    bool between = false;  // steps last from one visit to the next
    StepTable table;
    StepChoice choice;  // the choice that gives the same steps in another archive of the program
};

// Returns a new observer. The observer must outlive the reading, or live until the next one is requested.
using NewObserver = std::function<StepObserver&()>;

// Without a choice, the result of find_step_region(), or else of find_step_call(); none if nothing repeats. Reads all
// events once; without a choice twice, unless the guess from the first events holds for all. The last observer
// requested, if any, has seen all events of the reading that found the steps. Throws UsageError if the chosen region
// does not exist.
std::optional<ChosenSteps> chosen_steps(Reader& reader, const StepChoice& choice, const NewObserver& observer = {});

// Advice where no steps are found: "such as MPI_Allreduce".
std::string how_to_choose_steps(const Archive& archive);

}  // namespace otf2
