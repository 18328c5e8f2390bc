#include "base/job_size.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/run_record.hpp"

namespace base {

void check_job_size(int mpi_size)
{
    const JobRank job = job_rank();
    if (job.size == mpi_size) return;
    const bool srun = environment("SLURM_STEP_ID") && !environment("OMPI_COMM_WORLD_SIZE");
    fail_usage(srun ? "srun" : "the launcher", " started ", job.size, " tasks but MPI sees ", mpi_size, ": try ",
               srun ? "--mpi=pmix (srun --mpi=list)" : "the mpirun of the MPI that this program was built with");
}

}  // namespace base
