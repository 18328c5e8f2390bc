// SPDX-License-Identifier: Apache-2.0
// A process's rank in its job, from the launcher's environment.

#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "testing/environment.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace {

// The rank in its job as text: "1 of 4, MPI".
std::string job_with(const std::map<std::string, std::string>& variables)
{
    const testing::Environment environment{variables};
    const base::JobRank job = base::job_rank();
    return std::to_string(job.rank) + " of " + std::to_string(job.size) + (job.under_mpi ? ", MPI" : "");
}

}  // namespace

TEST_CASE("the rank in the job is what the launcher says")
{
    CHECK(job_with({}) == "0 of 1");
    CHECK(job_with({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}) == "1 of 4, MPI");
    CHECK(job_with({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}}) == "2 of 3");
    CHECK(job_with({{"SLURM_PROCID", "5"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}}) == "5 of 8");
    CHECK(job_with({{"RANK", "1"}, {"WORLD_SIZE", "2"}}) == "1 of 2");
    CHECK(job_with({{"RANK", "1"}}) == "0 of 1");
}

TEST_CASE("numbers that no launcher gives are of no job")
{
    CHECK(job_with({{"RANK", "0"}, {"WORLD_SIZE", "0"}}) == "0 of 1");
    CHECK(job_with({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}) == "0 of 1");
    CHECK(job_with({{"RANK", "2"}, {"WORLD_SIZE", "2"}}) == "0 of 1");
    CHECK(job_with({{"RANK", "0"}, {"WORLD_SIZE", "2000000000"}}) == "0 of 1");
    CHECK(job_with({{"RANK", "0"}, {"WORLD_SIZE", "-3"}}) == "0 of 1");
    CHECK(job_with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "0"}}) == "0 of 1");
    CHECK(job_with({{"OMPI_COMM_WORLD_RANK", " 1"}, {"OMPI_COMM_WORLD_SIZE", "x"}}) == "0 of 1");
    CHECK(job_with({{"PMIX_RANK", "3"}}) == "3 of 1, MPI");  // PMIx alone does not give the size
}

TEST_CASE("the tasks of the step count and not those of the whole Slurm job")
{
    CHECK(job_with({{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_NTASKS", "16"}}) == "1 of 2, MPI");
    CHECK(job_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}) == "0 of 1");
}

TEST_CASE("ranks of mpirun inside a Slurm job are not the daemons that Slurm counts")
{
    CHECK(job_with({{"PMI_RANK", "3"},
                    {"PMI_SIZE", "4"},
                    {"SLURM_PROCID", "1"},
                    {"SLURM_STEP_ID", "0"},
                    {"SLURM_STEP_NUM_TASKS", "2"}}) == "3 of 4");
    CHECK(job_with({{"RANK", "3"},
                    {"WORLD_SIZE", "4"},
                    {"SLURM_PROCID", "1"},
                    {"SLURM_STEP_ID", "0"},
                    {"SLURM_STEP_NUM_TASKS", "2"}}) == "3 of 4");
}

TEST_CASE("a name of a host that would lead to another directory is refused")
{
    for (const char* name : {"../../evil", "a/b", "..", ".", "a\nb", "\x1b[31m"}) {
        CAPTURE(name);
        const testing::Environment environment{{{"SLURMD_NODENAME", name}}};
        CHECK_THROWS_WITH_AS(base::host_name(), doctest::Contains("SLURMD_NODENAME: '"), base::UsageError);
    }
    const testing::Environment environment{{{"SLURMD_NODENAME", "node-1.rack_2"}}};
    CHECK(base::host_name() == "node-1.rack_2");
}

TEST_CASE("a launcher that MPI knows nothing of is named with what to try")
{
    const auto refused = [](const std::map<std::string, std::string>& variables, const char* words) {
        const testing::Environment environment{variables};
        CHECK_THROWS_WITH_AS(base::check_job_size(1), words, base::UsageError);
    };
    refused({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}},
            "srun started 2 tasks but MPI sees 1: try --mpi=pmix (srun --mpi=list)");
    refused({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}},
            "the launcher started 2 tasks but MPI sees 1: try the mpirun of the MPI that this program was built with");
    const testing::Environment alone{{{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}};
    CHECK_NOTHROW(base::check_job_size(1));
}

TEST_CASE("words that are no numbers are no rank")
{
    CHECK(job_with({{"OMPI_COMM_WORLD_RANK", "one"}, {"PMI_RANK", ""}}) == "0 of 1");
}
