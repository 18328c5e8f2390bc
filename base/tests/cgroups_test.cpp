// Control groups, read from trees of files as kernels show them.
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
