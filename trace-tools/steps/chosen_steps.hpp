// SPDX-License-Identifier: Apache-2.0
// The steps of an archive: those that a user chose, else those that are found.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/steps/step_collection.hpp"

#include <functional>
#include <optional>
#include <string>

namespace otf2 {

// The options --step-region and --step-from; one of the two, or neither.
struct StepChoice {
    std::string region;  // steps are the visits of this region
    std::string from;    // steps last from one visit of this region to the next
    int every = 1;       // .. or to this many visits later; also where the region is found, not named
    bool given() const { return !region.empty() || !from.empty(); }

    // Throws UsageError if both are given, or every is less than 1 or not for this choice.
    void check() const;
};

struct ChosenSteps {
    std::string name;      // "step", or "MPI_Allreduce to MPI_Allreduce"
    bool between = false;  // from one visit to the next
    StepTable table;
    StepChoice choice;  // which makes the same of another archive of the program
};

// Makes an observer that has seen nothing yet. It must outlive the reading, or the call for another one.
using NewObserver = std::function<StepObserver&()>;

// Without a choice what find_step_region() finds, else find_step_call(); none if nothing repeats. Reads all events
// once; without a choice twice, unless what the first events look like is what all look like. The last observer that
// was asked for, if there is one, has seen the whole reading that finds the steps. Throws UsageError for a region that
// is not there.
std::optional<ChosenSteps> chosen_steps(Reader& reader, const StepChoice& choice, const NewObserver& observer = {});

// Advice where no steps are found: "such as MPI_Allreduce".
std::string how_to_choose_steps(const Archive& archive);

}  // namespace otf2
