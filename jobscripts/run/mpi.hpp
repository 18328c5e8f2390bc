// MPI jobs on this machine.
#pragma once

namespace crosstalk {

// Sets what is not set in the environment: ranks may share CPUs, are bound by the job alone, and get time to write
// their records.
void prepare_for_mpi();

}  // namespace crosstalk
