// SPDX-License-Identifier: Apache-2.0
// The process's launcher: host name, rank and size of the job.
#pragma once

#include <string>

namespace base {

// Short host name, or SLURMD_NODENAME if virtual nodes share a host.
std::string host_name();

// This process's rank and the number of processes of its job step, from the launcher's environment (OpenMPI, PMIx,
// MPICH and Intel MPI, Slurm, torchrun).
struct JobRank {
    int rank = 0;
    int size = 1;
    bool under_mpi = false;  // the launcher is one that MPI_Init can connect to
};
JobRank job_rank();

// Throws UsageError if the launcher's number of tasks differs from MPI's: then each task would be a job of its own.
void check_job_size(int mpi_size);

}  // namespace base
