// SPDX-License-Identifier: Apache-2.0
// Control groups (versions 1 and 2): the limits of those this process is in, and groups that this process makes.
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

// The directories of a process's control group (0: this process) and of its parents that have a controller ("memory",
// "cpu"), the group first. In a container the group's path may not exist; then the mount's root is the container's own
// group. `root` replaces / in tests.
std::vector<CgroupDirectory> cgroup_directories(std::string_view controller, const std::filesystem::path& root = "/",
                                                pid_t process = 0);

// A controller, and the nearest group of this process in which it is enabled.
struct CgroupController {
    std::string name;  // "memory"; version 2 has "freezer" in all groups
    int version = 2;
    std::filesystem::path group;
    bool writable = false;  // this user may create groups in it

    bool operator==(const CgroupController&) const = default;
};

// Ordered by name; empty if no control groups are mounted.
std::vector<CgroupController> cgroup_controllers(const std::filesystem::path& root = "/");

// The number in a one-line file; none for "max", a missing file, or any other text.
std::optional<std::int64_t> number_in(const std::filesystem::path& path);

// CPU time per second that the groups allow (cpu.max; cpu.cfs_quota_us), in CPUs, such as 1.5; none without a limit.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

// The control group of a process, in the hierarchy of that version that has the controller ("freezer", "cpu"), by the
// kernel's name: "/job_7". Empty if the process has ended or there is no such hierarchy. Version 2 has one hierarchy.
std::string control_group_of(pid_t pid, std::string_view controller, int version);

// Prefix of the groups that Crosstalk makes to freeze processes.
inline constexpr const char* own_group_prefix = "crosstalk-";

// Thaws a group that Crosstalk made around a process and whose maker was killed: in version 1 not even SIGKILL ends a
// frozen process. Returns the group, which the caller must remove once it is empty; empty if there is none.
std::filesystem::path thaw_own_group(pid_t pid);

// Removes the freezer group that process `maker` made and could not remove itself. Processes that have just ended stay
// in the group for a moment, so the function waits.
void remove_freezer_of(pid_t maker);
std::string name_of_freezer(pid_t maker);

// A group that this process made. The destructor removes it if it is empty: move its processes out first.
class OwnGroup {
 public:
    // Returns null if this user may not create it. In version 2 a group only has the controllers that its parent
    // enables for children (cgroup.subtree_control): they are enabled for the lifetime of this object.
    static std::unique_ptr<OwnGroup> make(const CgroupDirectory& parent, const std::string& name,
                                          const std::vector<std::string>& controllers = {});
    ~OwnGroup();
    OwnGroup(const OwnGroup&) = delete;
    OwnGroup& operator=(const OwnGroup&) = delete;

    int version() const { return parent_.version; }
    bool has(const std::string& file) const;
    bool takes(pid_t pid) const;  // moves a process with all its threads; false on failure
    bool put(const std::string& file, const std::string& text) const;    // writes the text; false on failure
    bool holds(const std::string& file, const std::string& line) const;  // does one of the file's lines equal `line`?

 private:
    OwnGroup(CgroupDirectory parent, std::filesystem::path path) : parent_{std::move(parent)}, path_{std::move(path)} {}

    CgroupDirectory parent_;
    std::filesystem::path path_;
    std::vector<std::string> handed_on_;  // controllers that this object enabled in the parent
};

}  // namespace base
