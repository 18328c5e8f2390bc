// SPDX-License-Identifier: Apache-2.0
#include "base/system/launcher.hpp"

#include "base/error.hpp"
#include "base/system/environment.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include <sys/utsname.h>

namespace base {

namespace {

// Rank and size from a launcher's variables; none if they are missing, no numbers, or contradictory. Without a size
// variable the size is 1.
std::optional<JobRank> rank_of(const char* rank_variable, const char* size_variable, bool under_mpi)
{
    constexpr int most_ranks = 16'777'216;
    const std::optional<int> rank = environment_number(rank_variable);
    const std::optional<int> size = environment_number(size_variable);
    if (!size && environment(size_variable)) return {};
    if (!rank || *rank < 0 || *rank >= size.value_or(most_ranks) || size.value_or(1) > most_ranks) return {};
    return JobRank{*rank, size.value_or(1), under_mpi};
}

// Files are named after the host, so the name must not lead to another directory.
std::string checked_host_name(const std::string& name, const std::string& from)
{
    constexpr std::size_t longest = 200;
    const bool plain =
        std::ranges::none_of(name, [](unsigned char letter) { return letter == '/' || std::iscntrl(letter) != 0; });
    if (name.empty() || name == "." || name == ".." || name.size() > longest || !plain)
        fail_usage(from, ": '", name.substr(0, longest), "' is not the name of a host");
    return name;
}

}  // namespace

std::string host_name()
{
    if (const auto node = environment("SLURMD_NODENAME")) return checked_host_name(*node, "SLURMD_NODENAME");
    utsname name{};
    uname(&name);
    const std::string full = name.nodename;
    const std::string host = full.substr(0, full.find('.'));
    return host.empty() ? "localhost" : checked_host_name(host, "the name of this host (uname -n)");
}

JobRank job_rank()
{
    // Python's crosstalk sets these in processes of multiprocessing that form a group of torch.distributed.
    if (const auto job = rank_of("CROSSTALK_RANK", "CROSSTALK_RANKS", false)) return *job;
    if (const auto job = rank_of("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true)) return *job;
    if (const auto job = rank_of("PMIX_RANK", "SLURM_STEP_NUM_TASKS", true)) return *job;
    // PMI is used by MPICH, Intel MPI and srun --mpi=pmi2. We do not know whether our MPI library supports it: OpenMPI
    // would run as several jobs of one rank each, or fail.
    if (const auto job = rank_of("PMI_RANK", "PMI_SIZE", false)) return *job;
    // In a Slurm job srun may start torchrun once per node; SLURM_* variables count those processes, so torchrun's come
    // first.
    if (environment("WORLD_SIZE"))
        if (const auto job = rank_of("RANK", "WORLD_SIZE", false)) return *job;
    if (environment("SLURM_STEP_ID"))
        if (const auto job = rank_of("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false)) return *job;
    return {};
}

void check_job_size(int mpi_size)
{
    const JobRank job = job_rank();
    if (job.size == mpi_size) return;
    const bool mpirun = environment("OMPI_COMM_WORLD_SIZE").has_value();
    const bool srun = environment("SLURM_STEP_ID") && !mpirun;
    if (!mpirun && !srun && environment("WORLD_SIZE"))
        fail_usage("WORLD_SIZE (torchrun) says ", job.size, " tasks, but MPI sees ", mpi_size,
                   ": try --transport gloo, or start with mpirun");
    fail_usage(srun ? "srun" : "the launcher", " started ", job.size, " tasks but MPI sees ", mpi_size, ": try ",
               srun ? "--mpi=pmix (srun --mpi=list)" : "the mpirun of the MPI that this program was built with");
}

}  // namespace base
