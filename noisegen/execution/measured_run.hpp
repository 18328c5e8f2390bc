// SPDX-License-Identifier: Apache-2.0
// A schedule run for the sake of its figures: this process alone, without records of its own.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/execution/threads/team.hpp"
#include "noisegen/resources/budgets.hpp"

#include <functional>

namespace noisegen {

struct MeasuredRun {
    const Schedule& schedule;
    base::CpuSet cpus;  // all of them make noise
    Budgets budgets;
    std::vector<Slot> table;
    // Called by the noise threads, one at a time.
    std::function<void(std::size_t, const SlotDone&)> on_slot = [](std::size_t, const SlotDone&) {};
    // The same, about every tenth of a second while a level is on: what was done since the last call.
    std::function<void(std::size_t, const SlotDone&, const Sample&)> on_sample = {};
    // Called when all is made, with the CLOCK_MONOTONIC time in ns at which the table will begin.
    std::function<void(std::int64_t)> on_start = [](std::int64_t) {};
    std::function<void(double)> progress = [](double) {};  // the share of the table that is over
    // In the end, by stressor: how it worked here, or nothing.
    std::function<void(const std::vector<std::string>&)> on_notes = [](const std::vector<std::string>&) {};
};

// False if the program was asked to stop before the table's end. Throws UsageError if a budget does not allow it, and
// what a stressor throws.
bool run(const MeasuredRun& measured);

}  // namespace noisegen
