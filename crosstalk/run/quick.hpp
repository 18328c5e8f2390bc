// SPDX-License-Identifier: Apache-2.0
// A coarse answer within a minute: defaults of --quick, and the effects that such a run could have shown.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <string>

namespace crosstalk {

// Values that crosstalk run --quick gives to options that are not given. With 30 s of noise, start, end and analysis
// included, a run takes less than a minute from the first step. Slots of half a second make ten blocks of two noises,
// two controls and two quiet slots; a job that marks its steps gets slots of ten steps.
namespace quick {
inline constexpr const char* duration = "30s";
inline constexpr const char* noises = "memory.stream, io.write";
inline constexpr const char* slot_of_unseen_steps = "500ms";
}  // namespace quick

// "coarse (--quick): this run could have seen 6.1 % of memory.stream, ..; for 1 % take about 18min: .."; empty if the
// run has no trustworthy report.
std::string how_coarse(const Request& request);

}  // namespace crosstalk
