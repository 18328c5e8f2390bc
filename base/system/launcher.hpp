// SPDX-License-Identifier: Apache-2.0
// The launcher of this process: its host's name, its rank, the size of its job.
#pragma once

#include <string>

namespace base {

// Short host name; SLURMD_NODENAME where virtual nodes share a host.
std::string host_name();

// This process's rank and the number of processes of its job step, from the launcher's environment (OpenMPI, PMIx,
// MPICH and Intel MPI, Slurm, torchrun).
struct JobRank {
    int rank = 0;
    int size = 1;
    bool under_mpi = false;  // a launcher that MPI_Init can connect to
};
JobRank job_rank();

// Throws UsageError if the launcher started another number of tasks than MPI sees: each would be a job of its own.
void check_job_size(int mpi_size);

}  // namespace base
