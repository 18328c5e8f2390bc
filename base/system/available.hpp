// SPDX-License-Identifier: Apache-2.0
// Resources that this machine has left.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace base {

// Memory that can be taken without swapping: MemAvailable, cut by what the process's cgroup and its parents have left
// (v1 and v2; page cache that can be dropped counts as left). `root` stands for / in tests.
Bytes available_memory(const std::filesystem::path& root = "/");

// All memory, used or not, that the kernel has and that the process's cgroup and its parents allow.
Bytes usable_memory(const std::filesystem::path& root = "/");

// Throws std::system_error for a directory that is not there.
Bytes free_disk(const std::filesystem::path& directory);

// Files that can still be made there; none where the file system sets no limit. Throws std::system_error.
std::optional<std::int64_t> free_files(const std::filesystem::path& directory);

// Is what is written there kept in memory (tmpfs, ramfs)?
bool in_memory(const std::filesystem::path& directory);

}  // namespace base
