// What a run needs beyond its plan, before anything is written.
#pragma once

#include "noisegen/execution/plan.hpp"

namespace noisegen {

// Turns rates that are a share of a limit into rates, allows the file descriptors that the stressors need, checks the
// design and warns of what competes for the CPUs. Throws UsageError for a limit that is not known, for too few
// descriptors, and for a design of which interference could make no report.
void prepare(Plan& plan);

}  // namespace noisegen
