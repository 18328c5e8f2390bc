// Where the steps of a job come from: what its command says of that.
#pragma once

#include "jobscripts/run/request/request.hpp"

#include <string>

namespace crosstalk {

// ddl_train  records its own archive, and cooperates in control.delay
// scorep     is traced by Score-P into an archive of its own
// marks      cooperates by libcrosstalk-mark.so: crosstalk-python, or a program that has crosstalk_mark.h's calls
// table      writes its own steps.csv
// lines      prints a line a step
// calls      its MPI calls are recorded, and steps last from one to the next; without MPI the lines that it prints
enum class StepSource { ddl_train, scorep, marks, table, lines, calls };

// Throws UsageError for a request that names several, or another one than ddl-train's own.
StepSource source_of(const Request& request);

// It need not be on PATH.
bool is_ours(const std::string& word);

}  // namespace crosstalk
