// SPDX-License-Identifier: Apache-2.0
// Setup of a noise thread before it runs stressors.
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <string>

namespace noisegen {

// Blocks signals in this thread, so that the main thread gets them. A pipe without a reader becomes an error of the
// write.
void leave_signals_alone();

// Tries the scheduling class of each level and then the process's own: not every user may leave `idle` again. Throws
// Unavailable.
void try_scheduling_classes(const Schedule& schedule, const std::string& own);

// Does a limit of a level (cpuset) bind threads to other CPUs than their own?
bool bind_otherwise(const Schedule& schedule);

}  // namespace noisegen
