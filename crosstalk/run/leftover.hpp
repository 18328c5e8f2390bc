// SPDX-License-Identifier: Apache-2.0
// Help for a run that ended without a report: what can still be made of it.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <string>

namespace crosstalk {

// A command that leads to a report; empty if the run left too little. missing: how long noise must be on, if it was too
// short.
std::string command_for_a_report(const Request& request, base::Nanoseconds missing);

// The sentence in the job's log about spawned processes, which the recording of MPI calls leaves out; empty if there is
// none.
std::string left_out_by_recording(const Request& request);

}  // namespace crosstalk
