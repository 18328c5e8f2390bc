// SPDX-License-Identifier: Apache-2.0
// Placement of a planned run, and the command lines of its programs.
#pragma once

#include "crosstalk/campaign/plan.hpp"
#include "crosstalk/launchers/launcher.hpp"

#include <string>

namespace crosstalk {

// CPUs on each node: as the spec says, or else alternate cores for training and noise. Throws UsageError if there are
// too few cores, or if the launcher cannot place them.
Placement placement_of(const PlannedRun& run, const Spec& spec, const Launcher& launcher);

// Command line of the training: ddl-train with options, or the spec's command.
Words training_words(const PlannedRun& run, const Spec& spec);

// Command line of noisegen on these CPUs, without options for records.
Words noise_words(const PlannedRun& run, const Spec& spec, const Split& cores);

// noisegen's error about the first schedule of the plan that it refuses on this machine; empty if it accepts all.
std::string why_no_such_noise(const Plan& plan, const Spec& spec);

}  // namespace crosstalk
