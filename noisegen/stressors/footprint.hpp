// SPDX-License-Identifier: Apache-2.0
// Amount of memory that a stressor works on: more than the last-level cache, or a share of it.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <cstddef>
#include <filesystem>

namespace noisegen {

struct Cache {
    base::Bytes size{};
    base::CpuSet cpus;  // CPUs that share the cache
};

// The largest cache of the CPU; 32 MiB, not shared, if the kernel does not report it. `root` replaces / in tests.
Cache last_level_cache(int cpu, const std::filesystem::path& root = "/");

// A size that no cache holds: four times the last-level cache, so that at most a quarter of accesses hit, and at least
// 64 MiB. It is limited to a fortieth of the available memory, since a virtual machine may report the cache of its
// whole host.
base::Bytes beyond_caches(int cpu, const std::filesystem::path& root = "/");

// Does that limit make beyond_caches() smaller than four times the cache?
bool is_bounded_by_memory(int cpu, const std::filesystem::path& root = "/");

// The option `bytes` of stressors that work in main memory.
base::OptionCard footprint_option();

// The bytes that the option requests on one CPU; auto is beyond_caches(). Throws UsageError that names `stressor` below
// 1 MiB.
std::size_t footprint(const base::Settings& settings, int cpu, const std::string& stressor);

// The same as a demand, before the CPU is known.
Needs footprint_needs(const base::Settings& settings, const std::string& stressor);

}  // namespace noisegen
