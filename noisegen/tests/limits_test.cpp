// What the machine has to give, read from trees of files as kernels show them.
#include "noisegen/limits.hpp"

#include "base/error.hpp"
#include "base/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace {

void put(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
}

}  // namespace

TEST_CASE("without a cgroup the kernel's estimate counts")
{
    const testing::Scratch root;
    put(root / "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable:     800 kB\n");
    CHECK(noisegen::available_memory(root.path()).count == 800 * 1024);
}

TEST_CASE("the narrowest cgroup above the process limits")
{
    const testing::Scratch root;
    put(root / "proc/meminfo", "MemAvailable: 8000000 kB\n");
    put(root / "proc/self/cgroup", "0::/job/step\n");
    put(root / "sys/fs/cgroup/job/memory.max", "5000000\n");
    put(root / "sys/fs/cgroup/job/memory.current", "3000000\n");
    put(root / "sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 500000\n");
    put(root / "sys/fs/cgroup/job/step/memory.max", "max\n");
    put(root / "sys/fs/cgroup/job/step/memory.current", "3000000\n");
    CHECK(noisegen::available_memory(root.path()).count == 2500000);
}

TEST_CASE("version 1 of cgroups is understood too")
{
    const testing::Scratch root;
    put(root / "proc/meminfo", "MemAvailable: 8000000 kB\n");
    put(root / "proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/slurm/job_7\n");
    put(root / "sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "1000\n");
    put(root / "sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", "400\n");
    CHECK(noisegen::available_memory(root.path()).count == 600);
}

TEST_CASE("demands over the share are refused with the option that decides")
{
    const noisegen::Demand all_memory{
        "memory.stream", {.memory = {std::int64_t{1} << 50U}, .disk = {}, .directory = {}}, 1};
    CHECK_THROWS_WITH_AS(noisegen::check_demands({all_memory}, {}), doctest::Contains("--max-memory"),
                         base::UsageError);
    const noisegen::Demand all_disk{
        "io.write", {.memory = {}, .disk = {std::int64_t{1} << 58U}, .directory = "/tmp"}, 1};
    CHECK_THROWS_WITH_AS(noisegen::check_demands({all_disk}, {}), doctest::Contains("--max-disk"), base::UsageError);
    const noisegen::Demand nowhere{"io.write", {.memory = {}, .disk = {1}, .directory = "/nowhere/at/all"}, 1};
    CHECK_THROWS_WITH_AS(noisegen::check_demands({nowhere}, {}), doctest::Contains("no directory"), base::UsageError);
}
