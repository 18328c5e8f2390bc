// SPDX-License-Identifier: Apache-2.0
// Control groups, read from copies of the kernel's file trees.
#include "base/system/cgroups.hpp"

#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace {

void put(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
}

}  // namespace

TEST_CASE("the group comes first and its parents after it")
{
    const testing::Scratch root;
    put(root / "proc/self/cgroup", "4:memory:/other\n0::/job/step\n");
    const auto found = base::cgroup_directories("cpu", root.path());
    REQUIRE(found.size() == 3);
    CHECK(found[0].path == root / "sys/fs/cgroup/job/step");
    CHECK(found[2].path == root / "sys/fs/cgroup");
    CHECK(base::cgroup_directories("memory", root.path()).at(0).version == 1);
}

TEST_CASE("the least CPU time of a group and its parents counts")
{
    const testing::Scratch root;
    put(root / "proc/self/cgroup", "0::/job/step\n");
    put(root / "sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    put(root / "sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    CHECK(base::cpu_quota(root.path()) == doctest::Approx(1.5));
    put(root / "sys/fs/cgroup/job/step/cpu.max", "50000 100000\n");
    CHECK(base::cpu_quota(root.path()) == doctest::Approx(0.5));
}

TEST_CASE("CPU time of version 1, where minus one is no limit")
{
    const testing::Scratch root;
    put(root / "proc/self/cgroup", "3:cpu,cpuacct:/job\n");
    put(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    CHECK(!base::cpu_quota(root.path()));
    put(root / "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
    put(root / "sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    CHECK(base::cpu_quota(root.path()) == doctest::Approx(3.0));
}

TEST_CASE("controllers of version 1 have a tree each, named hierarchies are none")
{
    const testing::Scratch root;
    put(root / "proc/self/cgroup", "3:name=systemd:/\n2:cpu,cpuacct:/\n1:memory:/gone/job\n0::/\n");
    for (const char* tree : {"cpu", "cpuacct", "memory/gone"})
        put(root.path() / "sys/fs/cgroup" / tree / "cgroup.procs", "");
    const std::vector<base::CgroupController> expected{{"cpu", 1, root / "sys/fs/cgroup/cpu", true},
                                                       {"cpuacct", 1, root / "sys/fs/cgroup/cpuacct", true},
                                                       {"memory", 1, root / "sys/fs/cgroup/memory/gone", true}};
    CHECK(base::cgroup_controllers(root.path()) == expected);
}

TEST_CASE("of version 2 a controller is where the nearest group has it, and every group can be frozen")
{
    const testing::Scratch root;
    put(root / "proc/self/cgroup", "0::/job\n");
    for (const char* group : {"", "job"}) put(root.path() / "sys/fs/cgroup" / group / "cgroup.procs", "");
    put(root / "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    put(root / "sys/fs/cgroup/job/cgroup.controllers", "memory\n");
    const std::vector<base::CgroupController> expected{{"cpu", 2, root / "sys/fs/cgroup", true},
                                                       {"freezer", 2, root / "sys/fs/cgroup/job", true},
                                                       {"memory", 2, root / "sys/fs/cgroup/job", true}};
    CHECK(base::cgroup_controllers(root.path()) == expected);
}

TEST_CASE("without control groups there are no controllers")
{
    const testing::Scratch root;
    CHECK(base::cgroup_controllers(root.path()).empty());
    put(root / "proc/self/cgroup", "1:memory:/\n0::/\n");
    CHECK(base::cgroup_controllers(root.path()).empty());
}
