// SPDX-License-Identifier: Apache-2.0
// A run that ended without a report: what can be made of it.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <string>

namespace crosstalk {

// The command; empty where the run left too little. missing: how long noise has to be on at least, where it was not.
std::string command_for_a_report(const Request& request, base::Nanoseconds missing);

// The sentence of the job's log on spawned processes, which the recording of MPI calls leaves out; empty without one.
std::string left_out_by_recording(const Request& request);

}  // namespace crosstalk
