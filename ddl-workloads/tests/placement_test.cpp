#include "ddl-workloads/placement.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

TEST_CASE("ranks of a node share out the CPUs and leave none")
{
    const base::CpuSet cpus = base::allowed_cpus();
    const int ranks = static_cast<int>(base::physical_cores(cpus).size());
    base::CpuSet all;
    for (int rank = 0; rank < ranks; ++rank) {
        const base::CpuSet share = ddl::share_of(cpus, {rank, ranks});
        CHECK_FALSE(share.empty());
        for (const int cpu : share) CHECK(all.insert(cpu).second);
    }
    CHECK(all == cpus);
}

TEST_CASE("more ranks than CPUs share them all")
{
    const base::CpuSet one{*base::allowed_cpus().begin()};
    CHECK(ddl::share_of(one, {0, 2}) == one);
    CHECK(ddl::share_of(one, {1, 2}) == one);
}

TEST_CASE("one rank has all CPUs of the list")
{
    CHECK(ddl::share_of(base::allowed_cpus(), {0, 1}) == base::allowed_cpus());
}

TEST_CASE("tasks of a node are read from what Slurm says")
{
    CHECK(ddl::slurm_tasks_on_node("2", 0) == 2);
    CHECK(ddl::slurm_tasks_on_node("2(x3),1", 0) == 2);
    CHECK(ddl::slurm_tasks_on_node("2(x3),1", 2) == 2);
    CHECK(ddl::slurm_tasks_on_node("2(x3),1", 3) == 1);
    CHECK_THROWS_AS(ddl::slurm_tasks_on_node("2(x3),1", 4), base::Error);
}
