// On a machine of two sockets with two cores each, two threads a core: CPUs 0, 1 and their siblings 4, 5 are the first.
#include "jobscripts/run/cores.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

using crosstalk::Split;

namespace {

std::vector<base::Core> cores_within(const base::CpuSet& allowed)
{
    std::vector<base::Core> cores;
    for (int core = 0; core < 4; ++core) {
        base::Core made{.cpus = {}, .index = core, .numa_node = core / 2, .package = core / 2};
        for (const int cpu : {core, core + 4})
            if (allowed.contains(cpu)) made.cpus.insert(cpu);
        if (!made.cpus.empty()) cores.push_back(made);
    }
    return cores;
}

// "0,4 beside 1,5"
std::string split(const base::CpuSet& allowed, const base::CpuSet& job = {}, const base::CpuSet& noise = {})
{
    const Split split = crosstalk::split_cores(cores_within(allowed), job, noise);
    return base::format_cpus(split.job) + (split.shared ? " shared with " : " beside ") +
           base::format_cpus(split.noise);
}

const base::CpuSet all{0, 1, 2, 3, 4, 5, 6, 7};

}  // namespace

TEST_CASE("with nothing given each gets cores of both sockets and siblings stay together")
{
    CHECK(split(all) == "0,2,4,6 beside 1,3,5,7");
    CHECK(split({1, 2, 3}) == "1,3 beside 2");
    CHECK(split({2}) == "2 shared with 2");
}

TEST_CASE("what is given to one leaves the other the cores without any of its CPUs")
{
    CHECK(split(all, {0, 1}) == "0-1 beside 2-3,6-7");
    CHECK(split(all, {}, {7}) == "0-2,4-6 beside 7");
    CHECK_THROWS_AS(split(all, {0, 1, 2, 3}), base::UsageError);
    CHECK_THROWS_AS(split(all, {}, all), base::UsageError);
}

TEST_CASE("two sets are taken as they are if they are disjoint or the same")
{
    CHECK(split(all, {0}, {4}) == "0 beside 4");
    CHECK(split(all, {0, 1}, {0, 1}) == "0-1 shared with 0-1");
    CHECK_THROWS_AS(split(all, {0, 1}, {1, 2}), base::UsageError);
}
