// SPDX-License-Identifier: Apache-2.0
// The choice of noise CPUs, and which of them runs which stressor.
#include "noisegen/resources/placement.hpp"

#include "base/contract/control_file.hpp"
#include "base/error.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/pages.hpp"
#include "testing/child.hpp"
#include "testing/environment.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

#include <map>
#include <thread>

#include <sched.h>
#include <sys/syscall.h>

using noisegen::candidates;
using noisegen::CpuRequest;
using noisegen::divide;
using noisegen::Machine;
using noisegen::parse_schedule;

namespace {

// Sibling numbers are far apart, as on most servers.
const std::vector<base::Core> three_cores{{.cpus = {2, 66}}, {.cpus = {3, 67}}, {.cpus = {4, 68}}};

// Two sockets of two NUMA nodes each, four cores a node, CPUs 2k and 2k+1 on core k.
Machine two_sockets(const std::string& avoided, const std::string& allowed = "0-31")
{
    static const std::vector<base::Core> cores = [] {
        const testing::Environment synthetic{{{"HWLOC_SYNTHETIC", "pack:2 numa:2 core:4 pu:2"}}};
        return base::physical_cores(base::parse_cpus("0-31"));
    }();
    return {.cores = cores,
            .allowed = base::parse_cpus(allowed),
            .avoided = avoided.empty() ? base::CpuSet{} : base::parse_cpus(avoided)};
}

std::string chosen(const CpuRequest& cpu_request, const std::string& avoided, const std::string& allowed = "0-31")
{
    return base::format_cpus(candidates(cpu_request, two_sockets(avoided, allowed)));
}

std::string reported(const CpuRequest& cpu_request, const std::string& avoided)
{
    try {
        return "accepted " + chosen(cpu_request, avoided);
    } catch (const base::UsageError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("idle are the cores of which no part is in use")
{
    CHECK(chosen({}, "0,5") == "2-3,6-31");
    CHECK(chosen({}, "0", "0-8,16") == "2-7");
    CHECK(chosen({}, "0-29") == "30-31");
    CHECK(reported({}, "0,2,4-31").find("no whole core is idle; allowed are CPUs 0-31, busy are 0,2,4-31") !=
          std::string::npos);
}

TEST_CASE("where nothing is known to be busy the first core stays free")
{
    CHECK(chosen({}, "") == "2-31");
    CHECK(chosen({}, "", "5-9") == "6-9");
    CHECK(chosen({}, "", "4-5") == "4-5");
    CHECK(chosen({.numa = "1"}, "") == "10-15");  // the node's CPUs are 8-15
}

TEST_CASE("with SMT noise takes the siblings too")
{
    CHECK(chosen({.smt = "yes"}, "0,5") == "1-4,6-31");
    CHECK(chosen({.smt = "yes"}, "0,2,4-31") == "1,3");
    CHECK(chosen({.smt = "yes"}, "0", "0-1,7") == "1,7");
    CHECK(reported({.smt = "yes"}, "0-31").find("no CPU is idle") != std::string::npos);
}

TEST_CASE("only the CPUs of the NUMA nodes asked for")
{
    CHECK(chosen({.numa = "0"}, "0-3") == "4-7");
    CHECK(chosen({.numa = "1,3"}, "0-3") == "8-15,24-31");
    CHECK(chosen({.cpus = "6-9", .numa = "1"}, "0-3") == "8-9");
    CHECK(chosen({.cpus = "0-9", .numa = "1"}, "0-3") == "8-9");
    CHECK(reported({.numa = "4"}, "0-3").find("no CPU on NUMA node 4; there are 0-3") != std::string::npos);
    CHECK(reported({.numa = "x"}, "0-3").find("--numa: 'x' is not a list of NUMA nodes") != std::string::npos);
    CHECK(reported({.numa = "0"}, "0-7").find("no whole core is idle on NUMA node 0") != std::string::npos);
    CHECK(reported({.cpus = "4", .numa = "2"}, "").find("no CPU is left on NUMA node 2") != std::string::npos);
}

TEST_CASE("the training's socket, or another one")
{
    CHECK(chosen({.socket = "same"}, "0-3") == "4-15");
    CHECK(chosen({.socket = "other"}, "0-3") == "16-31");
    CHECK(chosen({.socket = "same"}, "0,16") == "2-15,18-31");
    CHECK(chosen({.numa = "1", .socket = "same"}, "0-3") == "8-15");
    CHECK(reported({.numa = "2", .socket = "same"}, "0-3").find("on NUMA node 2 on the same socket") !=
          std::string::npos);
    CHECK(reported({.socket = "other"}, "0,16").find("on the other socket") != std::string::npos);
    CHECK(reported({.cpus = "4", .socket = "same"}, "").find("--socket same needs --avoid") != std::string::npos);
}

TEST_CASE("a list is taken as it is but for what must be avoided")
{
    CHECK(chosen({.cpus = "4,6"}, "0-3") == "4,6");
    CHECK(chosen({.cpus = "4"}, "") == "4");
    CHECK(reported({.cpus = "3-4"}, "0-3").find("CPU 3 is to be avoided") != std::string::npos);
    CHECK(chosen({.cpus = "3-4", .share = true}, "0-3") == "3-4");
    CHECK(reported({.cpus = "1"}, "0").find("CPU 1 is on the core of CPU 0") != std::string::npos);
    CHECK(chosen({.cpus = "1", .smt = "yes"}, "0") == "1");
    CHECK(chosen({.cpus = "1", .share = true}, "0") == "1");
    Machine used = two_sockets("0-3");
    used.users = {{2, "python (4711)"}};
    CHECK_THROWS_WITH_AS(candidates({.cpus = "2-5"}, used), doctest::Contains("CPU 2 is used by python (4711)"),
                         base::UsageError);
}

TEST_CASE("a count is spread over the NUMA nodes and never more than there is")
{
    const std::vector<base::Core> cores = two_sockets("").cores;
    CHECK(base::format_cpus(base::cpus_of(noisegen::spread(cores, 1))) == "0-1");
    CHECK(base::format_cpus(base::cpus_of(noisegen::spread(cores, 2))) == "0-1,8-9");
    CHECK(base::format_cpus(base::cpus_of(noisegen::spread(cores, 6))) == "0-3,8-11,16-17,24-25");
    CHECK(noisegen::spread(cores, 99).size() == 16);
    CHECK(base::format_cpus(base::cpus_of(noisegen::spread({cores.begin(), cores.begin() + 4}, 3))) == "0-5");
    const testing::Environment alone{{}};
    Machine machine = two_sockets("0-3");
    CHECK(base::format_cpus(noisegen::choose_cpus({.count = "2", .socket = "other"}, machine)) == "16-17,24-25");
    for (const std::string wrong : {"0", "-1", "some", "1.5", ""})
        CHECK_THROWS_WITH_AS(noisegen::choose_cpus({.count = wrong}, machine), doctest::Contains("--count: '"),
                             base::UsageError);
}

TEST_CASE("tasks of a host that Slurm has bound apart keep all of their CPUs")
{
    const std::map<std::string, std::string> second{{"SLURM_LOCALID", "1"},
                                                    {"SLURM_NODEID", "0"},
                                                    {"SLURM_STEP_TASKS_PER_NODE", "2"},
                                                    {"SLURM_CPU_BIND_TYPE", "mask_cpu:"}};
    std::map<std::string, std::string> apart = second;
    apart["SLURM_CPU_BIND_LIST"] = "0x00FF,0xFF00";
    {
        const testing::Environment slurm{apart};
        CHECK(base::format_cpus(noisegen::choose_cpus({}, two_sockets("0-3", "8-15"))) == "8-15");
    }
    std::map<std::string, std::string> together = second;
    together["SLURM_CPU_BIND_LIST"] = "0xFFFF,0xFFFF";
    const testing::Environment slurm{together};
    CHECK(base::format_cpus(noisegen::choose_cpus({}, two_sockets("0-3", "8-15"))) == "12-15");
}

TEST_CASE("a noise CPU's place is reported")
{
    const Machine machine = two_sockets("0-2,17");
    const auto texts = [&machine](const base::CpuSet& cpus) {
        std::vector<std::string> all;
        for (const noisegen::CpuPlacement& placement : noisegen::placements(cpus, machine))
            all.push_back(noisegen::text(placement));
        return all;
    };
    CHECK(texts({16, 2, 3, 30}) == std::vector<std::string>{"cpu 2: core 1, socket 0, node 0, shared",
                                                            "cpu 3: core 1, socket 0, node 0, sibling 2 busy",
                                                            "cpu 16: core 8, socket 1, node 2, sibling 17 busy",
                                                            "cpu 30: core 15, socket 1, node 3, idle"});
}

TEST_CASE("memory comes from nodes that are there")
{
    CHECK(noisegen::parse_memory("local").empty());
    const std::set<int> there = base::memory_nodes();
    REQUIRE(!there.empty());
    CHECK(noisegen::parse_memory(base::format_cpus(there)) == there);
    CHECK_THROWS_WITH_AS(noisegen::parse_memory("65000"), doctest::Contains("NUMA node 65000 has no memory"),
                         base::UsageError);
    CHECK_THROWS_WITH_AS(noisegen::parse_memory("near"), doctest::Contains("is not a list of NUMA nodes"),
                         base::UsageError);
}

TEST_CASE("a thread's new memory lies on the node that was asked for")
{
    const int node = *base::memory_nodes().begin();
    long reported = -1;
    int lies = -1;
    int policy = -1;
    int local = -1;
    std::thread{[&] {
        try {
            base::take_memory_from({node});
        } catch (const std::system_error&) {
            return;
        }
        const noisegen::Pages pages{1 << 21U};
        static_cast<char*>(pages.data())[0] = 1;
        void* page = pages.data();
        reported = ::syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &lies, 0);
        ::syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL);
        base::take_memory_from({});
        ::syscall(SYS_get_mempolicy, &local, nullptr, 0UL, nullptr, 0UL);
    }}.join();
    if (reported != 0) {
        testing::skip("the kernel lets this process neither place memory nor ask where it is");
        return;
    }
    CHECK(lies == node);
    CHECK(policy != 0);  // not the default policy
    CHECK(local == 0);   // the default policy: near the CPU
}

TEST_CASE("a thread is put into a scheduling class and the others are not")
{
    for (const auto& [name, policy] : std::map<std::string, int>{{"idle", SCHED_IDLE}, {"batch", SCHED_BATCH}}) {
        int found = -1;
        std::thread{[&found, name = name] {
            base::set_scheduling_class(name);
            found = ::sched_getscheduler(0);
        }}.join();
        CHECK(found == policy);
        CHECK(::sched_getscheduler(0) == SCHED_OTHER);
    }
}

TEST_CASE("in a rotation every stressor runs on all noise CPUs")
{
    const auto schedule = parse_schedule("rotation(memory.stream, io.write, placebo, control.delay, control.sham)");
    const auto runs = divide(schedule, three_cores);
    CHECK(runs[0] == std::vector<int>{2, 3, 4, 66, 67, 68});
    CHECK(runs[1] == runs[0]);
    CHECK(runs[3] == std::vector<int>{2});
}

TEST_CASE("a stressor that needs one CPU runs on the first of those that it gets")
{
    const auto in_turn = divide(parse_schedule("rotation(gpu.copy, memory.stream, placebo)"), three_cores);
    CHECK(in_turn[0] == std::vector<int>{2});
    CHECK(in_turn[1] == std::vector<int>{2, 3, 4, 66, 67, 68});
    const auto together = divide(parse_schedule("factorial(memory.stream, gpu.copy)"), three_cores);
    CHECK(together[0] == std::vector<int>{2, 66});
    CHECK(together[1] == std::vector<int>{3});
}

TEST_CASE("in a factorial every stressor has cores of its own")
{
    const auto runs = divide(parse_schedule("factorial(cpu.spin, memory.stream, placebo, io.write)"), three_cores);
    CHECK(runs[0] == std::vector<int>{2, 66});
    CHECK(runs[1] == std::vector<int>{3, 67});
    CHECK(runs[2] == std::vector<int>{2});
    CHECK(runs[3] == std::vector<int>{4, 68});
    const auto two = divide(parse_schedule("factorial(cpu.spin, io.write)"), three_cores);
    CHECK(two[0] == std::vector<int>{2, 66});
    CHECK(two[1] == std::vector<int>{3, 4, 67, 68});
}

TEST_CASE("two factors of one stressor have cores of their own too")
{
    const auto runs = divide(parse_schedule("factorial(a=memory.stream, b=memory.stream)"), three_cores);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0] == std::vector<int>{2, 66});
    CHECK(runs[1] == std::vector<int>{3, 4, 67, 68});
}

TEST_CASE("siblings are one core and not enough for a factorial of two")
{
    const auto schedule = parse_schedule("factorial(memory.stream, io.write)");
    const std::vector<base::Core> one{{.cpus = {2, 66}}};
    CHECK_THROWS_WITH_AS(divide(schedule, one), doctest::Contains("there are 1 (CPUs 2,66); use rotation(...)"),
                         base::UsageError);
}

TEST_CASE("noise processes of one host have cores of their own")
{
    CHECK(noisegen::own_part(three_cores, {0, 3}, false) == base::CpuSet{2, 66});
    CHECK(noisegen::own_part(three_cores, {2, 3}, false) == base::CpuSet{4, 68});
    CHECK(noisegen::own_part(three_cores, {1, 2}, false) == base::CpuSet{3, 4, 67, 68});
    CHECK_THROWS_WITH_AS(noisegen::own_part(three_cores, {0, 4}, false), doctest::Contains("--share"),
                         base::UsageError);
    CHECK(noisegen::own_part(three_cores, {0, 4}, true) == base::CpuSet{2});
    CHECK(noisegen::own_part(three_cores, {0, 7}, true) == base::cpus_of(three_cores));
}
