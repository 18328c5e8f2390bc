// SPDX-License-Identifier: Apache-2.0
// Checks that the installed ddl-train and noisegen know the names in a plan.
#pragma once

#include "crosstalk/campaign/spec.hpp"
#include "crosstalk/campaign/trials/trial_plan.hpp"

#include <string>

namespace crosstalk {

// "no guard 'rnge'; did you mean range?" for the first model, strategy or guard that ddl-train does not know; empty if
// it knows all. Throws Unavailable if there is no ddl-train.
std::string unknown_name_in(const TrialSpec& spec);
std::string unknown_name_in(const Spec& spec);

// Throws UsageError if noisegen lacks a stressor of the spec, or the stressor an option. Every build knows all
// stressors, and those of CROSSTALK_LOAD.
void check_stressors(const Spec& spec);

}  // namespace crosstalk
