// Do launcher and MPI agree how many processes the job has?
#pragma once

namespace base {

// Throws UsageError if the launcher started another number of tasks than MPI sees: each would be a job of its own.
void check_job_size(int mpi_size);

}  // namespace base
