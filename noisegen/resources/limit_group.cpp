// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/limit_group.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <system_error>

#include <unistd.h>

namespace noisegen {

namespace {

namespace fs = std::filesystem;

const fs::path resctrl_mount = "/sys/fs/resctrl";

struct Setting {
    std::string file;
    std::string value;
};

// Device numbers of all disks, such as "8:0".
std::vector<std::string> disks()
{
    std::vector<std::string> numbers;
    std::error_code none;
    for (const fs::directory_entry& disk : fs::directory_iterator{"/sys/block", none}) {
        const std::string number = base::first_line(disk.path() / "dev");
        if (base::number_in(disk.path() / "size").value_or(0) > 0 && !number.empty()) numbers.push_back(number);
    }
    return numbers;
}

std::vector<Setting> io_settings(const ResourceLimit& limit, int version, bool on)
{
    const bool bytes = limit.rate.of == base::Rate::Of::bytes;
    const std::string rate = std::to_string(std::llround(limit.rate.per_second));
    std::vector<Setting> settings;
    for (const std::string& disk : disks()) {
        const std::string value = on ? rate : version == 2 ? "max" : "0";
        if (version == 2) {
            const std::string unit = bytes ? "bps=" : "iops=";
            settings.push_back({"io.max", base::join(disk, " r", unit, value, " w", unit, value)});
        } else
            for (const char* way : {"read", "write"})
                settings.push_back({base::join("blkio.throttle.", way, bytes ? "_bps_device" : "_iops_device"),
                                    base::join(disk, " ", value)});
    }
    return settings;
}

std::vector<Setting> settings_of(const ResourceLimit& limit, int version, bool on, const base::CpuSet& noise)
{
    constexpr double period_us = 100'000.0;
    const auto whole = [](double number) { return std::to_string(std::llround(number)); };
    switch (limit.kind) {
        case ResourceLimit::Kind::io_max:
            return io_settings(limit, version, on);
        case ResourceLimit::Kind::cpu_weight:
            if (version == 2) return {{"cpu.weight", whole(on ? limit.number : 100.0)}};
            return {{"cpu.shares", whole(on ? std::max(2.0, limit.number * 10.24) : 1024.0)}};
        case ResourceLimit::Kind::cpu_max: {
            const double quota_us = limit.number / 100.0 * period_us;
            if (version == 2) return {{"cpu.max", (on ? whole(quota_us) : "max") + " " + whole(period_us)}};
            return {{"cpu.cfs_quota_us", on ? whole(quota_us) : "-1"}};
        }
        case ResourceLimit::Kind::cpu_idle:
            return {{"cpu.idle", on ? "1" : "0"}};
        case ResourceLimit::Kind::cpuset:
            return {{"cpuset.cpus", base::format_cpus(on ? limit.cpus : noise)}};
        case ResourceLimit::Kind::memory_bandwidth:
            break;
    }
    return {};
}

// Name of the limit's controller: "io" in version 2, "blkio" in version 1.
std::string controller_of(const ResourceLimit& limit, int version)
{
    switch (limit.kind) {
        case ResourceLimit::Kind::io_max:
            return version == 2 ? "io" : "blkio";
        case ResourceLimit::Kind::cpuset:
            return "cpuset";
        default:
            return "cpu";
    }
}

bool is_of_cgroups(const ResourceLimit& limit)
{
    return limit.kind != ResourceLimit::Kind::memory_bandwidth;
}

bool sets_all(const base::OwnGroup& group, const std::vector<ResourceLimit>& limits)
{
    return std::ranges::all_of(limits, [&](const ResourceLimit& limit) {
        const std::vector<Setting> settings = settings_of(limit, group.version(), true, {});
        return !settings.empty() && group.has(settings.front().file);
    });
}

// In version 1 a new cpuset group has no CPUs, and accepts no process before it has some.
void give_cpus(const base::OwnGroup& group, const fs::path& parent, const base::CpuSet& noise)
{
    if (!group.has("cpuset.cpus")) return;
    group.put("cpuset.cpus", base::format_cpus(noise));
    if (group.version() == 1) group.put("cpuset.mems", base::first_line(parent / "cpuset.mems"));
}

// Removes groups left behind by killed processes; groups that contain a process stay.
void remove_stale(const fs::path& parent, const std::string& name)
{
    std::error_code none;
    for (const fs::directory_entry& group : fs::directory_iterator{parent, none}) {
        const std::string file = group.path().filename().string();
        if (!file.starts_with(name) || fs::exists("/proc/" + file.substr(name.size()))) continue;
        std::error_code busy;
        fs::remove(group.path(), busy);
    }
}

// The line "    MB:0=100;1=100" of the group's schemata, with another number.
std::string bandwidth_line(const fs::path& schemata, double percent)
{
    for (const std::string& line : base::lines_in(schemata)) {
        const std::string trimmed{base::trim(line)};
        if (!trimmed.starts_with("MB:")) continue;
        std::vector<std::string> domains;
        for (const std::string& domain : base::split(trimmed.substr(3), ';'))
            domains.push_back(domain.substr(0, domain.find('=')) + "=" + std::to_string(std::llround(percent)));
        return "MB:" + base::join_words(domains, ";");
    }
    return "";
}

constexpr const char* name_of_groups = "crosstalk-limit-";

}  // namespace

std::unique_ptr<LimitGroup> LimitGroup::make(const Schedule& schedule, const base::CpuSet& noise)
{
    std::vector<ResourceLimit> limits;
    for (const FactorLevel& level : schedule.levels)
        if (level.intensity.limit) limits.push_back(*level.intensity.limit);
    if (limits.empty()) return nullptr;
    for (const ResourceLimit& limit : limits)
        if (!base::are_within(limit.cpus, noise))
            base::fail_usage("limit=", limit.text, ": not all of these are noise CPUs (", base::format_cpus(noise),
                             ")");
    std::unique_ptr<LimitGroup> made{new LimitGroup};
    made->noise_ = noise;
    std::vector<ResourceLimit> of_cgroups;
    std::copy_if(limits.begin(), limits.end(), std::back_inserter(of_cgroups), is_of_cgroups);
    made->take_this_process(of_cgroups);
    for (const ResourceLimit& limit : limits) {
        if (!is_of_cgroups(limit)) made->take_into_resctrl(limit);
        if (!made->put(limit, true)) base::unavailable("limit=", limit.text, " cannot be set on this machine");
        made->lift(limit);
    }
    return made;
}

LimitGroup::~LimitGroup()
{
    for (const Held& held : groups_) std::ofstream{held.home / "cgroup.procs"} << ::getpid() << std::flush;
    if (resctrl_.empty()) return;
    std::error_code busy;
    fs::remove(resctrl_, busy);  // its tasks return to the root group
}

// Version 2 has one group for all limits, version 1 one group for each controller.
void LimitGroup::take_this_process(const std::vector<ResourceLimit>& limits)
{
    if (limits.empty()) return;
    const std::string name = name_of_groups + std::to_string(::getpid());
    const auto take = [&](int version, const std::vector<ResourceLimit>& together) {
        std::vector<std::string> controllers;
        for (const ResourceLimit& limit : together) controllers.push_back(controller_of(limit, version));
        fs::path home;
        for (const base::CgroupDirectory& parent : base::cgroup_directories(controllers.front())) {
            if (parent.version != version || !fs::exists(parent.path / "cgroup.procs")) continue;
            if (home.empty()) home = parent.path;
            remove_stale(parent.path, name_of_groups);
            auto group = base::OwnGroup::make(parent, name, controllers);
            if (!group || !sets_all(*group, together)) continue;
            give_cpus(*group, parent.path, noise_);
            if (!group->takes(::getpid())) continue;
            groups_.push_back({std::move(group), home});
            return true;
        }
        return false;
    };
    if (take(2, limits)) return;
    for (const ResourceLimit& limit : limits)
        if (group_for(limit) == nullptr && !take(1, {limit}))
            base::unavailable("limit=", limit.text, " needs its own cgroup with ", controller_of(limit, 2),
                              ": run as root, or in a delegated cgroup (systemd-run -p Delegate=yes)");
}

void LimitGroup::take_into_resctrl(const ResourceLimit& limit)
{
    if (!resctrl_.empty()) return;
    const fs::path path = resctrl_mount / (name_of_groups + std::to_string(::getpid()));
    std::error_code refused;
    if (!fs::exists(resctrl_mount / "schemata") || !fs::create_directory(path, refused))
        base::unavailable(
            "limit=", limit.text, " needs ", resctrl_mount.string(),
            ", which is missing or not accessible (mount -t resctrl resctrl; needs processor support and root)");
    resctrl_ = path;
    for (const pid_t thread : base::threads_of_this_process()) std::ofstream{path / "tasks"} << thread << std::flush;
}

const base::OwnGroup* LimitGroup::group_for(const ResourceLimit& limit) const
{
    for (const Held& held : groups_)
        if (sets_all(*held.group, {limit})) return held.group.get();
    return nullptr;
}

bool LimitGroup::put(const ResourceLimit& limit, bool on) const
{
    if (!is_of_cgroups(limit)) {
        const std::string line = bandwidth_line(resctrl_ / "schemata", on ? limit.number : 100.0);
        std::ofstream out{resctrl_ / "schemata"};
        return !line.empty() && (out << line << "\n" << std::flush);
    }
    const base::OwnGroup* group = group_for(limit);
    bool any = false;
    if (group != nullptr)
        for (const Setting& setting : settings_of(limit, group->version(), on, noise_))
            any = group->put(setting.file, setting.value) || any;
    return any;
}

void LimitGroup::set(const ResourceLimit& limit) const
{
    if (!put(limit, true)) base::fail("limit=", limit.text, " can no longer be set");
}

void LimitGroup::lift(const ResourceLimit& limit) const
{
    put(limit, false);
}

std::string LimitGroup::how(const ResourceLimit& limit) const
{
    if (!is_of_cgroups(limit)) return "resctrl";
    const base::OwnGroup* group = group_for(limit);
    return group == nullptr ? "" : base::join("cgroup v", group->version());
}

void LimitedStressor::begin(const Turn& turn)
{
    if (sets_) group_.set(limit_);
    stressor_.begin(turn);
}

void LimitedStressor::end()
{
    if (sets_) group_.lift(limit_);
    stressor_.end();
    if (limit_.kind != ResourceLimit::Kind::cpuset) return;
    constexpr std::int64_t patience_ns = 100'000'000;  // time for the thread that lifts the limit
    const auto is_bound = [this] {
        try {
            base::bind_this_thread({cpu_});
            return true;
        } catch (const std::system_error&) {
            return false;
        }
    };
    base::wait_until(is_bound, patience_ns);
}

}  // namespace noisegen
