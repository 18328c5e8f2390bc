// SPDX-License-Identifier: Apache-2.0
// How much memory a stressor works on: more than the last-level cache holds, or a share of that cache.
#pragma once

#include "base/system/cpus.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <cstddef>
#include <filesystem>

namespace noisegen {

struct Cache {
    base::Bytes size;
    base::CpuSet cpus;  // that share it
};

// The largest cache of the CPU; 32 MiB of its own where the kernel does not report it. `root` stands for / in tests.
Cache last_level_cache(int cpu, const std::filesystem::path& root = "/");

// Size of memory that no cache holds: four times the last-level cache, which leaves a quarter of hits at most, and at
// least 64 MiB. At most a fortieth of the memory that there is for it: a virtual machine may be shown the cache of its
// whole host.
base::Bytes beyond_caches(int cpu, const std::filesystem::path& root = "/");

// Is that less than four times the cache?
bool is_bounded_by_memory(int cpu, const std::filesystem::path& root = "/");

// The option `bytes` of stressors that work in main memory.
base::OptionCard footprint_option();

// The bytes that the option asks for on one CPU. auto: beyond_caches(). Throws UsageError, in the name of `stressor`,
// below 1 MiB.
std::size_t footprint(const base::Settings& settings, int cpu, const std::string& stressor);

// The same as a need, before the CPU is known.
Needs footprint_needs(const base::Settings& settings, const std::string& stressor);

}  // namespace noisegen
