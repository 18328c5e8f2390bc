// SPDX-License-Identifier: Apache-2.0
// Steps of an archive: chosen by the user, or else detected.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/steps/step_collection.hpp"

#include <functional>
#include <optional>
#include <string>

namespace otf2 {

// The options --step-region and --step-from; at most one of them is set.
struct StepChoice {
    std::string region{};  // steps are the visits of this region
    std::string from{};    // steps last from one visit of this region to the next
    int every = 1;         // .. or to the n-th next visit; also for a detected call
    bool given() const { return !region.empty() || !from.empty(); }

    // Throws UsageError if both are set, or if `every` is less than 1, or greater than 1 with `region`.
    void check() const;
};

struct ChosenSteps {
    std::string name;      // "step", or "MPI_Allreduce to MPI_Allreduce"
    bool between = false;  // steps last from one visit to the next
    StepTable table;
    StepChoice choice;  // the choice that gives the same steps in another archive of the program
};

// Returns a new observer, which must live until the pass ends or the next observer is requested.
using NewObserver = std::function<StepObserver&()>;

// Returns the chosen steps; without a choice, those of find_steps(). Empty if nothing repeats. Reads all events once;
// without a choice twice, unless a guess from the first events proves right. The last observer requested, if any, has
// seen all events in the pass over the archive that found the steps. Throws UsageError if the chosen region does not
// exist, or if `every` is greater than 1 and the detected steps are visits of a region.
std::optional<ChosenSteps> chosen_steps(Reader& reader, const StepChoice& choice, const NewObserver& observer = {});

// Returns advice for archives in which no steps are found: ".. give one with --step-from, such as MPI_Allreduce ..".
std::string how_to_choose_steps(const Archive& archive);

}  // namespace otf2
