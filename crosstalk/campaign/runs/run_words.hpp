// SPDX-License-Identifier: Apache-2.0
// Where a planned run goes, and the command lines of its programs.
#pragma once

#include "crosstalk/campaign/plan.hpp"
#include "crosstalk/launchers/launcher.hpp"

#include <string>

namespace crosstalk {

// On each node: as the spec has it, or else every other core each. Throws UsageError where there are too few, or the
// launcher cannot.
Placement placement_of(const PlannedRun& run, const Spec& spec, const Launcher& launcher);

// The training's own words: ddl-train and its options, or the command.
Words training_words(const PlannedRun& run, const Spec& spec);

// noisegen and its options on these CPUs, without records.
Words noise_words(const PlannedRun& run, const Spec& spec, const Split& cores);

// noisegen's message about the first of the plan's schedules that it refuses here; empty if it takes all.
std::string why_no_such_noise(const Plan& plan, const Spec& spec);

}  // namespace crosstalk
