// What limits what a run can say, from the records beside its archives.
#pragma once

#include "analysis/report/report.hpp"

#include <string>
#include <vector>

namespace analysis {

// A sentence each: ranks that share a core, a virtual machine, noise on few of the cores or on the training's own, late
// noise, few blocks, an order that was not random. What no record holds is not known, and not said.
std::vector<std::string> limits(const Report& report);

// Noise that stood still for a tenth of its time or more did not cover the training: the reasons to say so.
std::vector<std::string> noise_stood_still(const Report& report);

}  // namespace analysis
