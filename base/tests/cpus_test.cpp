// SPDX-License-Identifier: Apache-2.0
// CPU lists, topology and binding.
#include "base/system/cpus.hpp"

#include "base/error.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include <unistd.h>

using namespace base;

TEST_CASE("CPU lists are read and written as the kernel writes them")
{
    CHECK(parse_cpus("0-3,8") == CpuSet{0, 1, 2, 3, 8});
    CHECK(format_cpus({0, 1, 2, 3, 8, 10, 11}) == "0-3,8,10-11");
    for (const char* text : {"", "a", "3-1", "-1", "1-", "0,,1", "70000", "1;2"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_cpus(text), UsageError);
    }
}

TEST_CASE("common CPUs are those in both sets")
{
    CHECK(common_cpus({0, 1, 4}, {1, 2, 4}) == CpuSet{1, 4});
    CHECK(common_cpus({0, 1}, {2}).empty());
}

TEST_CASE("CPUs that do not exist are refused by number")
{
    const std::string message = "CPU 65000 does not exist; this process may use " + format_cpus(allowed_cpus());
    CHECK_THROWS_WITH_AS(check_cpus({65000}), message.c_str(), UsageError);
    CHECK_NOTHROW(check_cpus(allowed_cpus()));
}

TEST_CASE("a rank that Open MPI has bound is told how to get more CPUs")
{
    const CpuSet cpus = allowed_cpus();
    if (cpus.size() < 2) testing::skip("needs two CPUs");
    const testing::Environment launched{{{"OMPI_COMM_WORLD_SIZE", "2"}}};
    std::string message;
    std::thread{[&] {
        bind_this_thread({*cpus.begin()});
        try {
            check_cpus({*cpus.rbegin()});
        } catch (const UsageError& error) {
            message = error.what();
        }
    }}.join();
    CHECK_MESSAGE(message.ends_with("without mpirun --bind-to none"), message);
}

TEST_CASE("a bound thread runs where it was reported")
{
    const int cpu = *allowed_cpus().rbegin();
    CpuSet seen;
    std::thread{[&] {
        bind_this_thread({cpu});
        seen = affinity_of(0);
    }}.join();
    CHECK(seen == CpuSet{cpu});
}

TEST_CASE("the physical cores hold every allowed CPU once")
{
    CpuSet all;
    std::size_t count = 0;
    for (const Core& core : physical_cores(allowed_cpus())) {
        all.insert(core.cpus.begin(), core.cpus.end());
        count += core.cpus.size();
    }
    CHECK(all == allowed_cpus());
    CHECK(count == all.size());
}

TEST_CASE("a core is whole though this process may use a part of it only")
{
    // CPU 3 is forbidden. CPUs 0 and 2 are SMT siblings, and so are 1 and 3.
    const testing::Scratch scratch;
    std::ofstream{scratch / "topology.xml"} << R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" allowed_cpuset="0x7" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1073741824"/>
    <object type="Core" os_index="0" cpuset="0x5" complete_cpuset="0x5" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
      <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x1" complete_nodeset="0x1" gp_index="5"/>
    </object>
    <object type="Core" os_index="1" cpuset="0xa" complete_cpuset="0xa" nodeset="0x1" complete_nodeset="0x1" gp_index="6">
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="7"/>
      <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x1" complete_nodeset="0x1" gp_index="8"/>
    </object>
  </object>
</topology>
)";
    const testing::Environment environment{{{"HWLOC_XMLFILE", (scratch / "topology.xml").string()}}};
    const std::vector<Core> cores = physical_cores({0, 1, 2, 3});
    REQUIRE(cores.size() == 2);
    CHECK(cores[0].cpus == CpuSet{0, 2});
    CHECK(cores[1].cpus == CpuSet{1, 3});
    // A CPU that the topology lacks is a core of its own.
    CHECK(physical_cores({1, 9}).at(1).cpus == CpuSet{9});
}

TEST_CASE("parts are made of whole cores and hold all of them")
{
    const std::vector<Core> cores{{.cpus = {2, 66}}, {.cpus = {3, 67}}, {.cpus = {4, 68}}};
    CHECK(part_of(cores, 0, 3) == CpuSet{2, 66});
    CHECK(part_of(cores, 2, 3) == CpuSet{4, 68});
    CHECK(part_of(cores, 0, 2) == CpuSet{2, 66});
    CHECK(part_of(cores, 1, 2) == CpuSet{3, 4, 67, 68});
    CHECK(cpus_of(cores) == CpuSet{2, 3, 4, 66, 67, 68});
}

TEST_CASE("this thread is among the threads of this process")
{
    const std::vector<pid_t> threads = threads_of_this_process();
    CHECK(std::find(threads.begin(), threads.end(), ::getpid()) != threads.end());
}
