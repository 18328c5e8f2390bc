// SPDX-License-Identifier: Apache-2.0
#include "base/system/cgroups.hpp"

#include "base/files.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <unistd.h>

namespace base {

namespace fs = std::filesystem;

namespace {

void add_with_parents(const fs::path& mount, const fs::path& group, int version, std::vector<CgroupDirectory>& found)
{
    const fs::path below = group.relative_path();
    fs::path at = below.empty() ? mount : mount / below;
    while (true) {
        found.push_back({at, version});
        if (at == mount || at.empty() || !at.has_relative_path()) return;
        at = at.parent_path();
    }
}

std::set<std::string> words_in(const fs::path& path)
{
    std::ifstream file{path};
    std::set<std::string> words;
    for (std::string word; file >> word;) words.insert(word);
    return words;
}

// A line of /proc/PID/cgroup: "4:memory:/job_7", or "0::/job_7" in version 2.
struct Membership {
    std::vector<std::string> controllers;
    std::string group;
};

std::vector<Membership> memberships(const fs::path& root, pid_t process)
{
    std::vector<Membership> all;
    for (const std::string& line :
         lines_in(root / "proc" / (process == 0 ? "self" : std::to_string(process)) / "cgroup")) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        all.push_back({split(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)});
    }
    return all;
}

// Controllers of version 1: each has a line in /proc/self/cgroup.
std::set<std::string> version_1_controllers(const fs::path& root)
{
    std::set<std::string> names;
    for (const Membership& one : memberships(root, 0))
        for (const std::string& name : one.controllers)
            if (!name.starts_with("name=")) names.insert(name);
    return names;
}

// Parses "150000 100000" in cpu.max: quota and period in microseconds.
std::optional<double> version_2_quota(const fs::path& directory)
{
    std::ifstream file{directory / "cpu.max"};
    double quota = 0.0;
    double period = 0.0;
    if (file >> quota >> period && quota > 0.0 && period > 0.0) return quota / period;
    return {};
}

std::optional<double> version_1_quota(const fs::path& directory)
{
    const auto quota = number_in(directory / "cpu.cfs_quota_us");
    const auto period = number_in(directory / "cpu.cfs_period_us");
    if (quota && period && *quota > 0 && *period > 0) return static_cast<double>(*quota) / static_cast<double>(*period);
    return {};
}

}  // namespace

std::vector<CgroupController> cgroup_controllers(const fs::path& root)
{
    std::map<std::string, CgroupController> nearest;
    const auto add = [&](const std::string& name, const CgroupDirectory& group) {
        if (!fs::exists(group.path / "cgroup.procs")) return;
        const bool writable = ::access(group.path.c_str(), W_OK) == 0;
        nearest.try_emplace(name, CgroupController{name, group.version, group.path, writable});
    };
    for (const std::string& name : version_1_controllers(root))
        for (const CgroupDirectory& group : cgroup_directories(name, root))
            if (group.version == 1) add(name, group);
    for (const CgroupDirectory& group : cgroup_directories("", root)) {
        if (!fs::exists(group.path / "cgroup.controllers")) continue;
        add("freezer", group);
        for (const std::string& name : words_in(group.path / "cgroup.controllers")) add(name, group);
    }
    std::vector<CgroupController> controllers;
    for (auto& [name, controller] : nearest) controllers.push_back(std::move(controller));
    return controllers;
}

std::optional<std::int64_t> number_in(const fs::path& path)
{
    std::ifstream file{path};
    std::int64_t number = 0;
    if (file >> number) return number;
    return {};
}

std::vector<CgroupDirectory> cgroup_directories(std::string_view controller, const fs::path& root, pid_t process)
{
    std::vector<CgroupDirectory> found;
    const fs::path mounts = root / "sys/fs/cgroup";
    for (const auto& [controllers, group] : memberships(root, process)) {
        if (std::ranges::find(controllers, controller) != controllers.end())
            add_with_parents(mounts / controller, group, 1, found);
        if (controllers.empty()) add_with_parents(mounts, group, 2, found);
    }
    return found;
}

std::optional<double> cpu_quota(const fs::path& root)
{
    std::optional<double> least;
    for (const auto& [directory, version] : cgroup_directories("cpu", root)) {
        const auto quota = version == 1 ? version_1_quota(directory) : version_2_quota(directory);
        if (quota) least = std::min(*quota, least.value_or(*quota));
    }
    return least;
}

std::string control_group_of(pid_t pid, std::string_view controller, int version)
{
    for (const auto& [controllers, group] : memberships("/", pid))
        if (version == 2 ? controllers.empty() : std::ranges::find(controllers, controller) != controllers.end())
            return group;
    return {};
}

namespace {

bool put_line(const fs::path& file, const std::string& text)
{
    std::ofstream out{file};
    return static_cast<bool>(out << text << std::flush);
}

bool has_line(const fs::path& file, const std::string& wanted)
{
    return std::ranges::count(lines_in(file), wanted) > 0;
}

}  // namespace

std::unique_ptr<OwnGroup> OwnGroup::make(const CgroupDirectory& parent, const std::string& name,
                                         const std::vector<std::string>& controllers)
{
    std::error_code refused;
    if (!fs::create_directory(parent.path / name, refused)) return nullptr;
    std::unique_ptr<OwnGroup> group{new OwnGroup{parent, parent.path / name}};
    if (parent.version != 2) return group;
    const fs::path handed_on = parent.path / "cgroup.subtree_control";
    const std::vector<std::string> already = split(first_line(handed_on), ' ');
    for (const std::string& controller : controllers)
        if (std::ranges::find(already, controller) == already.end() && put_line(handed_on, "+" + controller))
            group->handed_on_.push_back(controller);
    return group;
}

fs::path thaw_own_group(pid_t pid)
{
    for (const CgroupDirectory& above : cgroup_directories("freezer"))
        for (const fs::path& name : fs::path{control_group_of(pid, "freezer", above.version)}) {
            const fs::path group = above.path / name;
            if (!name.string().starts_with(own_group_prefix) || !fs::exists(group)) continue;
            if (above.version == 1)
                put_line(group / "freezer.state", "THAWED");
            else
                put_line(group / "cgroup.freeze", "0");
            return group;
        }
    return {};
}

namespace {

void remove_group(const fs::path& path)
{
    constexpr std::int64_t patience_ns = 500'000'000;  // waits for processes that have just ended
    const auto is_gone = [&] {
        std::error_code busy;
        fs::remove(path, busy);
        return !busy;
    };
    wait_until(is_gone, patience_ns);
}

}  // namespace

std::string name_of_freezer(pid_t maker)
{
    return own_group_prefix + std::to_string(maker);
}

void remove_freezer_of(pid_t maker)
{
    for (const CgroupDirectory& above : cgroup_directories("freezer"))
        remove_group(above.path / name_of_freezer(maker));
}

OwnGroup::~OwnGroup()
{
    remove_group(path_);
    for (const std::string& controller : handed_on_)
        put_line(parent_.path / "cgroup.subtree_control", "-" + controller);
}

bool OwnGroup::has(const std::string& file) const
{
    return fs::exists(path_ / file);
}

bool OwnGroup::takes(pid_t pid) const
{
    const std::string number = std::to_string(pid);
    return put("cgroup.procs", number) && holds("cgroup.procs", number);
}

bool OwnGroup::put(const std::string& file, const std::string& text) const
{
    return put_line(path_ / file, text);
}

bool OwnGroup::holds(const std::string& file, const std::string& line) const
{
    return has_line(path_ / file, line);
}

}  // namespace base
