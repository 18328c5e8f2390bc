// SPDX-License-Identifier: Apache-2.0
// Whether the ddl-train that is here knows what a plan names.
#pragma once

#include "crosstalk/campaign/spec.hpp"
#include "crosstalk/campaign/trials/trial_plan.hpp"

#include <string>

namespace crosstalk {

// "no guard 'rnge'; did you mean range?" of the first model, strategy or guard that it does not know; else empty.
// Throws Unavailable if there is no ddl-train.
std::string unknown_name_in(const TrialSpec& spec);
std::string unknown_name_in(const Spec& spec);

}  // namespace crosstalk
