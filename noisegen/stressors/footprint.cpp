// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/footprint.hpp"

#include "base/error.hpp"
#include "base/system/available.hpp"

#include <algorithm>
#include <fstream>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;
constexpr std::int64_t least = 64 * mib;

}  // namespace

Cache last_level_cache(int cpu, const fs::path& root)
{
    Cache largest{.cpus = {cpu}};
    for (int index = 0;; ++index) {
        const fs::path cache = root / base::join("sys/devices/system/cpu/cpu", cpu, "/cache/index", index);
        std::int64_t kib = 0;
        if (!(std::ifstream{cache / "size"} >> kib)) break;  // reads "32768K"
        if (kib * 1024 < largest.size.count) continue;
        std::string sharers;
        std::ifstream{cache / "shared_cpu_list"} >> sharers;
        largest = {.size = {kib * 1024}, .cpus = sharers.empty() ? base::CpuSet{cpu} : base::parse_cpus(sharers)};
    }
    if (largest.size.count == 0) largest.size = {std::int64_t{32} << 20U};
    return largest;
}

base::Bytes beyond_caches(int cpu, const fs::path& root)
{
    const std::int64_t wanted = std::max(4 * last_level_cache(cpu, root).size.count, least);
    return {std::clamp(base::usable_memory(root).count / 40 / mib * mib, least, wanted)};
}

bool is_bounded_by_memory(int cpu, const fs::path& root)
{
    return beyond_caches(cpu, root).count < 4 * last_level_cache(cpu, root).size.count;
}

base::OptionCard footprint_option()
{
    return {"bytes", "auto",
            "memory per CPU; auto: four times the last-level cache, at least 64MiB, at most 1/40 of all memory"};
}

std::size_t footprint(const base::Settings& settings, int cpu, const std::string& stressor)
{
    if (settings.text("bytes") == "auto") return static_cast<std::size_t>(beyond_caches(cpu).count);
    const auto bytes = settings.get<base::Bytes>("bytes");
    if (bytes.count < (1 << 20))
        base::fail_usage(stressor, "[bytes] must be at least 1MiB, not ", settings.text("bytes"));
    return static_cast<std::size_t>(bytes.count);
}

Needs footprint_needs(const base::Settings& settings, const std::string& stressor)
{
    return Needs{.memory = {static_cast<std::int64_t>(footprint(settings, 0, stressor))}};
}

}  // namespace noisegen
