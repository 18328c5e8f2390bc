#include "base/job_size.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/run_record.hpp"

namespace base {

void check_job_size(int mpi_size)
{
    const JobRank job = job_rank();
    if (job.size == mpi_size) return;
    const bool mpirun = environment("OMPI_COMM_WORLD_SIZE").has_value();
    const bool srun = environment("SLURM_STEP_ID") && !mpirun;
    if (!mpirun && !srun && environment("WORLD_SIZE"))
        fail_usage("WORLD_SIZE says that there are ", job.size, " tasks, as torchrun does, but MPI sees ", mpi_size,
                   ": try --transport gloo, or start it by mpirun");
    fail_usage(srun ? "srun" : "the launcher", " started ", job.size, " tasks but MPI sees ", mpi_size, ": try ",
               srun ? "--mpi=pmix (srun --mpi=list)" : "the mpirun of the MPI that this program was built with");
}

}  // namespace base
