// A run that ended without a report: what can be made of it.
#pragma once

#include "jobscripts/run/request/request.hpp"

#include <string>

namespace crosstalk {

// The command; empty where the run left too little. missing: how long noise has to be on at least, where it was not.
std::string command_for_a_report(const Request& request, base::Nanoseconds missing);

// What the recording of MPI calls said in the job's log that it leaves out: spawned processes. Empty if nothing.
std::string left_out_by_recording(const Request& request);

}  // namespace crosstalk
