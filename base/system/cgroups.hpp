// SPDX-License-Identifier: Apache-2.0
// The control groups this process is in, versions 1 and 2: what they limit; and groups of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace base {

struct CgroupDirectory {
    std::filesystem::path path;
    int version = 2;
};

// Those of a process's group (0: this process) and of its parents that have a say about a controller ("memory", "cpu"),
// the group first. In a container the group's path may lead nowhere; then the mount's root is the container's own
// group. `root` stands for / in tests.
std::vector<CgroupDirectory> cgroup_directories(std::string_view controller, const std::filesystem::path& root = "/",
                                                pid_t process = 0);

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

// The group that can freeze a process, in the hierarchy of that version, as the kernel calls it: "/job_7"; empty if the
// process has ended, or there is no such hierarchy.
std::string freezer_group(pid_t pid, int version);

// Prefix of the groups that Crosstalk makes to freeze processes.
inline constexpr const char* own_group_prefix = "crosstalk-";

// Thaws such a group around a process, whose maker was killed: not even SIGKILL ends what version 1 has frozen. Returns
// the group, to be removed once it is empty; empty if there is none.
std::filesystem::path thaw_own_group(pid_t pid);

// Removes what a process made to freeze others, and could not remove itself. What ended just now is in it for a moment.
void remove_freezer_of(pid_t maker);
std::string name_of_freezer(pid_t maker);

// A group that this process made. Taken away in the end, once it is empty: its maker moves those out before.
class OwnGroup {
 public:
    // Null where this user may not make it. Version 2 of a group has only the controllers that its parent hands on: the
    // parent is asked to hand these on, and no longer in the end.
    static std::unique_ptr<OwnGroup> make(const CgroupDirectory& parent, const std::string& name,
                                          const std::vector<std::string>& controllers = {});
    ~OwnGroup();
    OwnGroup(const OwnGroup&) = delete;
    OwnGroup& operator=(const OwnGroup&) = delete;

    int version() const { return parent_.version; }
    bool has(const std::string& file) const;
    bool takes(pid_t pid) const;  // with all its threads; false where that is refused
    bool put(const std::string& file, const std::string& text) const;    // false where that is refused
    bool holds(const std::string& file, const std::string& line) const;  // among its lines

 private:
    OwnGroup(CgroupDirectory parent, std::filesystem::path path) : parent_{std::move(parent)}, path_{std::move(path)} {}

    CgroupDirectory parent_;
    std::filesystem::path path_;
    std::vector<std::string> handed_on_;  // controllers, on our behalf
};

}  // namespace base
