// SPDX-License-Identifier: Apache-2.0
// Ranks on one host from launchers' variables, and their shares of the CPUs.
#include "base/system/local_rank.hpp"

#include "base/error.hpp"
#include "testing/environment.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace {

// The local rank as text: "1 of 4".
std::string rank_with(const std::map<std::string, std::string>& variables)
{
    const testing::Environment environment{variables};
    const base::LocalRank local = base::local_rank();
    return std::to_string(local.rank) + " of " + std::to_string(local.size);
}

}  // namespace

TEST_CASE("the rank on this host is what the launcher says")
{
    CHECK(rank_with({}) == "0 of 1");
    CHECK(rank_with({{"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}) == "1 of 4");
    CHECK(rank_with({{"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "3"}}) == "2 of 3");
    CHECK(rank_with({{"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}}) ==
          "1 of 2");
    CHECK(rank_with({{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}}) == "1 of 2");
}

TEST_CASE("mpirun inside a Slurm job counts its own ranks")
{
    std::map<std::string, std::string> variables{
        {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}};
    CHECK(rank_with(variables) == "0 of 1");
    variables["MPI_LOCALRANKID"] = "3";
    variables["MPI_LOCALNRANKS"] = "4";
    CHECK(rank_with(variables) == "3 of 4");
}

TEST_CASE("a rank that makes no sense is none")
{
    CHECK(rank_with({{"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}) == "0 of 1");
    CHECK(rank_with({{"OMPI_COMM_WORLD_LOCAL_RANK", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}) == "0 of 1");
    CHECK(rank_with({{"MPI_LOCALRANKID", "x"}, {"MPI_LOCALNRANKS", "0"}}) == "0 of 1");
}

TEST_CASE("tasks of a node are read from what Slurm says")
{
    CHECK(base::slurm_tasks_on_node("2", 0) == 2);
    CHECK(base::slurm_tasks_on_node("2(x3),1", 0) == 2);
    CHECK(base::slurm_tasks_on_node("2(x3),1", 2) == 2);
    CHECK(base::slurm_tasks_on_node("2(x3),1", 3) == 1);
    CHECK_THROWS_AS(base::slurm_tasks_on_node("2(x3),1", 4), base::Error);
}

TEST_CASE("tasks that Slurm has bound to the same CPUs share them and others do not")
{
    const auto among = [](int rank, std::string_view type, std::string_view list) {
        const base::LocalRank sharers = base::slurm_sharers({rank, 4}, type, list);
        return std::to_string(sharers.rank) + " of " + std::to_string(sharers.size);
    };
    CHECK(among(1, "mask_cpu:", "0x1,0x2,0x4,0x8") == "0 of 1");
    CHECK(among(3, "mask_cpu:", "0x3,0xc") == "1 of 2");
    CHECK(among(2, "map_cpu:", "0,1,1,0") == "1 of 2");
    CHECK(among(2, "mask_cpu:", "0xf") == "2 of 4");
    CHECK(among(2, "none", "") == "2 of 4");
    CHECK(among(2, "", "0x1,0x2,0x4,0x8") == "2 of 4");
    CHECK(among(2, "mask_cpu:", "0x1*2,0x2*2") == "2 of 4");
}

TEST_CASE("ranks of mpirun share whatever Slurm says of its daemons")
{
    const testing::Environment mpirun{{{"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                       {"SLURM_CPU_BIND_TYPE", "mask_cpu:"},
                                       {"SLURM_CPU_BIND_LIST", "0x1,0x2"}}};
    CHECK(base::rank_among_sharers().size == 2);
}

TEST_CASE("ranks of a host get whole cores while there are enough")
{
    const std::vector<base::Core> cores{{.cpus = {2, 66}}, {.cpus = {3, 67}}, {.cpus = {4, 68}}};
    CHECK(base::share_of(cores, {0, 1}) == base::CpuSet{2, 3, 4, 66, 67, 68});
    CHECK(base::share_of(cores, {0, 2}) == base::CpuSet{2, 66});
    CHECK(base::share_of(cores, {1, 2}) == base::CpuSet{3, 4, 67, 68});
    CHECK(base::share_of(cores, {1, 3}) == base::CpuSet{3, 67});
}

TEST_CASE("with fewer cores than ranks the CPUs are dealt out and with fewer CPUs all are shared")
{
    const std::vector<base::Core> cores{{.cpus = {0, 2}}, {.cpus = {1, 3}}};
    CHECK(base::share_of(cores, {0, 4}) == base::CpuSet{0});
    CHECK(base::share_of(cores, {1, 4}) == base::CpuSet{2});
    CHECK(base::share_of(cores, {2, 4}) == base::CpuSet{1});
    CHECK(base::share_of(cores, {0, 5}) == base::CpuSet{0, 1, 2, 3});
    CHECK(base::share_of(cores, {4, 5}) == base::CpuSet{0, 1, 2, 3});
}
