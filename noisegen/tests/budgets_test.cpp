// SPDX-License-Identifier: Apache-2.0
// The machine's free resources, read from copies of the kernel's file trees.
#include "noisegen/resources/budgets.hpp"

#include "base/error.hpp"
#include "base/system/available.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include <sys/resource.h>

namespace {

void put(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
}

noisegen::Demand memory(std::int64_t bytes, std::size_t instances = 1)
{
    return {"memory.stream", {.memory = {bytes}}, instances};
}

noisegen::Demand disk(std::int64_t bytes, const std::filesystem::path& directory)
{
    return {"io.write", {.disk = {bytes}, .directory = directory}, 1};
}

}  // namespace

TEST_CASE("without a cgroup the kernel's estimate counts")
{
    const testing::Scratch root;
    put(root / "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable:     800 kB\n");
    CHECK(base::available_memory(root.path()).count == 800 * 1024);
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
    CHECK(base::available_memory(root.path()).count == 2500000);
    CHECK(base::usable_memory(root.path()).count == 5000000);
}

TEST_CASE("version 1 of cgroups is understood too")
{
    const testing::Scratch root;
    put(root / "proc/meminfo", "MemAvailable: 8000000 kB\n");
    put(root / "proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/slurm/job_7\n");
    put(root / "sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "1000\n");
    put(root / "sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", "400\n");
    CHECK(base::available_memory(root.path()).count == 600);
    CHECK(base::usable_memory(root.path()).count == 1000);
}

TEST_CASE("demands over the share are refused with the option that decides")
{
    CHECK_THROWS_WITH_AS(noisegen::check_demands({memory(std::int64_t{1} << 50U)}, {}),
                         doctest::Contains("--max-memory"), base::UsageError);
    CHECK_THROWS_WITH_AS(noisegen::check_demands({disk(std::int64_t{1} << 58U, "/tmp")}, {}),
                         doctest::Contains("--max-disk"), base::UsageError);
    CHECK_THROWS_WITH_AS(noisegen::check_demands({disk(1, "/nowhere/at/all")}, {}), doctest::Contains("no directory"),
                         base::UsageError);
}

TEST_CASE("the processes of a host are judged together")
{
    const noisegen::Demand quarter = memory(base::available_memory().count / 4);
    CHECK_NOTHROW(noisegen::check_demands({quarter}, {}, 1));
    CHECK_THROWS_WITH_AS(noisegen::check_demands({quarter}, {}, 3), doctest::Contains("in 3 processes"),
                         base::UsageError);
    const testing::Environment mpirun{{{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}}};
    CHECK_THROWS_AS(noisegen::check_demands({quarter}, {}), base::UsageError);
}

TEST_CASE("a sum larger than any number of bytes is refused too")
{
    CHECK_THROWS_WITH_AS(noisegen::check_demands({memory(std::int64_t{1} << 62U, 4)}, {}),
                         doctest::Contains("--max-memory"), base::UsageError);
}

TEST_CASE("more than all of it cannot be allowed")
{
    CHECK_THROWS_WITH_AS(noisegen::check_demands({}, {.max_memory = {500.0}}), doctest::Contains("--max-memory: 500%"),
                         base::UsageError);
    CHECK_THROWS_WITH_AS(noisegen::check_demands({}, {.max_disk = {100.5}}), doctest::Contains("--max-disk: 100.5%"),
                         base::UsageError);
    CHECK_NOTHROW(noisegen::check_demands({}, {.max_memory = {100.0}, .max_disk = {100.0}}));
}

TEST_CASE("a file in memory counts as memory")
{
    CHECK(!base::in_memory("/nowhere/at/all"));
    CHECK(!base::in_memory("/proc"));
    if (!base::in_memory("/dev/shm")) {
        testing::skip("/dev/shm is not in memory here");
        return;
    }
    const noisegen::Budgets no_memory{.max_memory = {0.0}, .max_disk = {100.0}};
    CHECK_THROWS_WITH_AS(noisegen::check_demands({disk(4096, "/dev/shm")}, no_memory),
                         doctest::Contains("--max-memory"), base::UsageError);
    CHECK_NOTHROW(noisegen::check_demands({disk(4096, "/dev/shm")}, {}));
}

TEST_CASE("files are judged by what the file system can still hold")
{
    const auto free = base::free_files("/tmp");
    CHECK(!base::free_files("/proc").has_value());
    CHECK_THROWS_AS(base::free_files("/nowhere/at/all"), std::system_error);
    if (!free) {
        testing::skip("the file system of /tmp sets no limit of files");
        return;
    }
    noisegen::Demand many{"metadata.stat", {.directory = "/tmp", .files = 90'000}, 1};
    CHECK_NOTHROW(noisegen::check_demands({many}, {.max_disk = {100.0}}, 1));
    const int processes = static_cast<int>(*free / many.needs.files) + 1;
    CHECK_THROWS_WITH_AS(noisegen::check_demands({many}, {.max_disk = {100.0}}, processes),
                         doctest::Contains("that can be made in /tmp (--max-disk)"), base::UsageError);
}

TEST_CASE("more files than can be removed soon are refused")
{
    noisegen::Demand many{"metadata.stat", {.directory = "/tmp", .files = 2'000}, 50};
    CHECK_NOTHROW(noisegen::check_demands({many}, {}, 1));
    many.instances = 51;
    CHECK_THROWS_WITH_AS(noisegen::check_demands({many}, {}, 1),
                         doctest::Contains("metadata.stat[files]: makes 102000"), base::UsageError);
}

TEST_CASE("the limit of open files is raised as far as it may be")
{
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    if (before.rlim_max < 2000) {
        testing::skip("the hard limit of open files is below 2000");
        return;
    }
    const auto soft_limit = [] {
        rlimit now{};
        ::getrlimit(RLIMIT_NOFILE, &now);
        return now.rlim_cur;
    };
    rlimit low = before;
    low.rlim_cur = 300;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    noisegen::Demand open{"io.write", {.files = 0, .descriptors = 10}, 1};
    noisegen::allow_descriptors({open});
    CHECK(soft_limit() == 300);
    open.instances = 100;
    noisegen::allow_descriptors({open});
    CHECK(soft_limit() >= 1000);
    open.needs.descriptors = 1'000'000'000;
    CHECK_THROWS_WITH_AS(noisegen::allow_descriptors({open}), doctest::Contains("(ulimit -Hn)"), base::UsageError);
    ::setrlimit(RLIMIT_NOFILE, &before);
}
