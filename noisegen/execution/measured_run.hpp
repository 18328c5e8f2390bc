// SPDX-License-Identifier: Apache-2.0
// A run of a schedule for measurements: by this process alone, without records of its own.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/execution/threads/team.hpp"
#include "noisegen/resources/budgets.hpp"

#include <functional>

namespace noisegen {

struct MeasuredRun {
    const Schedule& schedule;
    base::CpuSet cpus;  // each makes noise
    Budgets budgets;
    std::vector<Slot> table;
    // Called by the noise threads after each slot, one thread at a time.
    std::function<void(std::size_t, const SlotDone&)> on_slot = [](std::size_t, const SlotDone&) {};
    // Called about every tenth of a second while a level is on, with the work since the last call.
    std::function<void(std::size_t, const SlotDone&, const Sample&)> on_sample = {};
    // Called when all threads are ready, with the CLOCK_MONOTONIC time in ns at which the table will begin.
    std::function<void(std::int64_t)> on_start = [](std::int64_t) {};
    std::function<void(double)> progress = [](double) {};  // called with the share of the table that is over
    // Called at the end, with one note per stressor on how it worked here, or an empty text.
    std::function<void(const std::vector<std::string>&)> on_notes = [](const std::vector<std::string>&) {};
};

// Returns false if the program was asked to stop before the table's end. Throws UsageError if a budget does not allow
// the run, and the errors of stressors.
bool run(const MeasuredRun& measured);

}  // namespace noisegen
