// SPDX-License-Identifier: Apache-2.0
#include "base/system/available.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/cgroups.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace base {

namespace fs = std::filesystem;

namespace {

// The number in the line "name 123" or "name: 123 kB" of a file, times `unit`.
std::int64_t entry(const fs::path& path, std::string_view name, std::int64_t unit)
{
    for (const std::string& line : lines_in(path)) {
        if (!line.starts_with(name)) continue;
        std::istringstream words{line.substr(name.size())};
        std::int64_t number = 0;
        if (words >> number) return number * unit;
    }
    return 0;
}

struct CgroupFiles {
    std::string limit;
    std::string usage;
    std::string droppable;  // line of memory.stat
};
const CgroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};
const CgroupFiles version_2{"memory.max", "memory.current", "inactive_file "};

}  // namespace

Bytes available_memory(const fs::path& root)
{
    std::int64_t left = entry(root / "proc/meminfo", "MemAvailable:", 1024);
    for (const auto& [directory, version] : cgroup_directories("memory", root)) {
        const CgroupFiles& files = version == 1 ? version_1 : version_2;
        const auto limit = number_in(directory / files.limit);
        const auto usage = number_in(directory / files.usage);
        if (!limit || !usage) continue;
        const std::int64_t droppable = entry(directory / "memory.stat", files.droppable, 1);
        left = std::min(left, std::max<std::int64_t>(0, *limit - *usage + droppable));
    }
    return {left};
}

Bytes usable_memory(const fs::path& root)
{
    std::int64_t most = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    for (const auto& [directory, version] : cgroup_directories("memory", root))
        if (const auto limit = number_in(directory / (version == 1 ? version_1 : version_2).limit))
            most = std::min(most, *limit);
    return {most};
}

Bytes free_disk(const fs::path& directory)
{
    struct statvfs status {};
    check_errno(::statvfs(directory.c_str(), &status), "look at ", directory.string());
    if (status.f_blocks == 0)
        return in_memory(directory) ? available_memory() : Bytes{std::numeric_limits<std::int64_t>::max()};
    return {static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize)};
}

bool in_memory(const fs::path& directory)
{
    struct statfs status {};
    if (::statfs(directory.c_str(), &status) != 0) return false;
    return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

std::optional<std::int64_t> free_files(const fs::path& directory)
{
    struct statvfs status {};
    check_errno(::statvfs(directory.c_str(), &status), "look at ", directory.string());
    if (status.f_files == 0) return {};  // inodes are allocated on demand (btrfs, and most file systems of clusters)
    return static_cast<std::int64_t>(status.f_favail);
}

}  // namespace base
