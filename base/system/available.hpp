// SPDX-License-Identifier: Apache-2.0
// Memory and disk space that are available on this machine.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace base {

// Memory that can be taken without swapping: MemAvailable, limited by what the process's cgroup and its parents still
// allow (v1 and v2; page cache that can be dropped counts as free). `root` replaces / in tests.
Bytes available_memory(const std::filesystem::path& root = "/");

// Total memory, used or not, of the machine, limited by the process's cgroup and its parents.
Bytes usable_memory(const std::filesystem::path& root = "/");

// Free space in bytes, without blocks reserved for root; quotas are not known. A file system without a limit has the
// available memory if it is in memory, else the largest number. Throws std::system_error if the directory does not
// exist.
Bytes free_disk(const std::filesystem::path& directory);

// Number of files that can still be created there; none if the file system sets no limit. Throws std::system_error.
std::optional<std::int64_t> free_files(const std::filesystem::path& directory);

// Is the directory on a file system in memory (tmpfs, ramfs)?
bool in_memory(const std::filesystem::path& directory);

}  // namespace base
