// The control groups this process is in, versions 1 and 2: what they limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

struct CgroupDirectory {
    std::filesystem::path path;
    int version = 2;
};

// Those of this process's group and of its parents that have a say about a controller ("memory", "cpu"), the group
// first. In a container the group's path may lead nowhere; then the mount's root is the container's own group. `root`
// stands for / in tests.
std::vector<CgroupDirectory> cgroup_directories(std::string_view controller, const std::filesystem::path& root = "/");

// A controller, and the nearest group of this process that has it.
struct CgroupController {
    std::string name;  // "memory"; also "freezer" of version 2, whose groups all have it
    int version = 2;
    std::filesystem::path group;
    bool writable = false;  // this user may make groups in it

    bool operator==(const CgroupController&) const = default;
};

// In the order of their names; none where no control groups are mounted.
std::vector<CgroupController> cgroup_controllers(const std::filesystem::path& root = "/");

// The number in a one-line file; none for "max", an absent file, or anything else.
std::optional<std::int64_t> number_in(const std::filesystem::path& path);

// CPU time per second that the groups grant (cpu.max; cpu.cfs_quota_us), in CPUs: 1.5; none without a limit.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

}  // namespace base
