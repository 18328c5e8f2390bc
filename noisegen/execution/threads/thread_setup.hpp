// SPDX-License-Identifier: Apache-2.0
// Setup of a noise thread, before it stresses.
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <string>

namespace noisegen {

// Signals go to the main thread. A pipe without a reader is an error of the call that writes.
void leave_signals_alone();

// The class of each level, and back to that of the process: not every user may leave `idle` again. Throws Unavailable.
void try_scheduling_classes(const Schedule& schedule, const std::string& own);

// Does a limit of a level bind threads to other CPUs than their own (cpuset)?
bool bind_otherwise(const Schedule& schedule);

}  // namespace noisegen
