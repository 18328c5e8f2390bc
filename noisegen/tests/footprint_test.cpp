// SPDX-License-Identifier: Apache-2.0
// Memory sizes of stressors: the last-level cache from the kernel's files, and sizes given by users.
#include "noisegen/stressors/footprint.hpp"

#include "base/error.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace {

// Creates cpu<cpu>/cache/index<index> in the file tree `root`.
void put_cache(const testing::Scratch& root, int cpu, int index, const std::string& size, const std::string& cpus)
{
    const auto cache =
        root / ("sys/devices/system/cpu/cpu" + std::to_string(cpu)) / "cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(cache);
    std::ofstream{cache / "size"} << size << "\n";
    if (!cpus.empty()) std::ofstream{cache / "shared_cpu_list"} << cpus << "\n";
}

std::int64_t memory_of(const std::string& stressor, const std::map<std::string, std::string>& options)
{
    const auto& card = noisegen::stressors().find(stressor);
    return card.needs(noisegen::stressors().settings(card, options)).memory.count;
}

}  // namespace

TEST_CASE("the last-level cache is the largest and knows who shares it")
{
    const testing::Scratch root;
    put_cache(root, 5, 0, "32K", "5");
    put_cache(root, 5, 1, "1024K", "5");
    put_cache(root, 5, 2, "32768K", "4-7,12-15");
    const noisegen::Cache cache = noisegen::last_level_cache(5, root.path());
    CHECK(cache.size == base::Bytes{32 << 20});
    CHECK(cache.cpus == base::CpuSet{4, 5, 6, 7, 12, 13, 14, 15});
}

TEST_CASE("a cache that the kernel does not report is 32 MiB of one CPU")
{
    const testing::Scratch root;
    CHECK(noisegen::last_level_cache(3, root.path()).size == base::Bytes{32 << 20});
    CHECK(noisegen::last_level_cache(3, root.path()).cpus == base::CpuSet{3});
    put_cache(root, 3, 0, "64K", "");
    CHECK(noisegen::last_level_cache(3, root.path()).cpus == base::CpuSet{3});
}

TEST_CASE("memory that no cache holds is four caches and not more than the machine can spare")
{
    constexpr std::int64_t mib = 1 << 20;
    const testing::Scratch root;
    CHECK(noisegen::beyond_caches(0, root.path()).count == 128 * mib);  // nothing is reported, so 32 MiB are assumed
    put_cache(root, 0, 0, "8192K", "0-1");
    CHECK(noisegen::beyond_caches(0, root.path()).count == 64 * mib);
    put_cache(root, 0, 0, "33554432K", "0-1");  // 32 GiB
    std::ifstream meminfo{"/proc/meminfo"};
    std::string word;
    std::int64_t kib = 0;
    REQUIRE(static_cast<bool>(meminfo >> word >> kib));
    REQUIRE(word == "MemTotal:");
    CHECK(noisegen::beyond_caches(0, root.path()).count == std::max(64 * mib, kib * 1024 / 40 / mib * mib));
    CHECK(noisegen::is_bounded_by_memory(0, root.path()));
}

TEST_CASE("stressors of main memory take four caches or what is asked for")
{
    for (const std::string stressor : {"memory.stream", "memory.random", "memory.chase"}) {
        CAPTURE(stressor);
        CHECK(memory_of(stressor, {}) == noisegen::beyond_caches(0).count);
        CHECK(memory_of(stressor, {{"bytes", "3MiB"}}) == 3 << 20);
        const std::string refused = stressor + "[bytes] must be at least 1MiB, not 4KiB";
        CHECK_THROWS_WITH_AS(memory_of(stressor, {{"bytes", "4KiB"}}), refused.c_str(), base::UsageError);
    }
}
