#include "noisegen/limits.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

// The number in a one-line file; none for "max", an absent file, or anything else.
std::optional<std::int64_t> number_in(const fs::path& path)
{
    std::ifstream file{path};
    std::int64_t number = 0;
    if (file >> number) return number;
    return {};
}

// "name 123" or "name: 123 kB" in a file of such lines, times `unit`.
std::int64_t entry(const fs::path& path, std::string_view name, std::int64_t unit)
{
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(name)) continue;
        std::istringstream words{line.substr(name.size())};
        std::int64_t number = 0;
        if (words >> number) return number * unit;
    }
    return 0;
}

struct CgroupFiles {
    std::string mount;
    std::string limit;
    std::string usage;
    std::string droppable;  // in memory.stat
};
const CgroupFiles version_1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                            "total_inactive_file "};
const CgroupFiles version_2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "};

// The least that the cgroup `group` and its parents have left. In a container the group's path may lead nowhere; then
// the mount's root is the container's own group.
std::int64_t left_in_cgroup(const fs::path& root, const CgroupFiles& files, const fs::path& group, std::int64_t left)
{
    const fs::path mount = root / files.mount;
    fs::path at = mount / group.relative_path();
    while (true) {
        const auto limit = number_in(at / files.limit);
        const auto usage = number_in(at / files.usage);
        if (limit && usage)
            left = std::min(left,
                            std::max<std::int64_t>(0, *limit - *usage + entry(at / "memory.stat", files.droppable, 1)));
        if (at == mount || at.empty() || !at.has_relative_path()) return left;
        at = at.parent_path();
    }
}

// A sum may be more than a number of bytes can say.
std::string size_text(double bytes)
{
    constexpr double most = 9e18;
    return base::format(base::Bytes{std::llround(std::min(bytes, most))});
}

}  // namespace

base::Bytes available_memory(const fs::path& root)
{
    std::int64_t left = entry(root / "proc/meminfo", "MemAvailable:", 1024);
    std::ifstream groups{root / "proc/self/cgroup"};
    for (std::string line; std::getline(groups, line);) {  // "4:memory:/job_7" or "0::/job_7"
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::vector<std::string> names = base::split(controllers, ',');
        const bool memory = std::find(names.begin(), names.end(), "memory") != names.end();
        if (memory) left = left_in_cgroup(root, version_1, line.substr(second + 1), left);
        if (controllers.empty()) left = left_in_cgroup(root, version_2, line.substr(second + 1), left);
    }
    return {left};
}

base::Bytes free_disk(const fs::path& directory)
{
    struct statvfs status {};
    base::check_errno(::statvfs(directory.c_str(), &status), "look at ", directory.string());
    return {static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize)};
}

bool in_memory(const fs::path& directory)
{
    struct statfs status {};
    if (::statfs(directory.c_str(), &status) != 0) return false;
    return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

void check_demands(const std::vector<Demand>& demands, const Limits& limits, int processes)
{
    for (const auto& [option, share] : {std::pair{"--max-memory", limits.max_memory}, {"--max-disk", limits.max_disk}})
        if (share.value > 100.0) base::fail_usage(option, ": ", base::format(share), " is more than all of it");

    const std::string together = processes > 1 ? base::join(" in ", processes, " processes") : "";
    double memory = 0.0;
    std::map<dev_t, double> disk;
    std::set<std::string> warnings;
    for (const Demand& demand : demands) {
        const double instances = static_cast<double>(demand.instances) * processes;
        memory += static_cast<double>(demand.needs.memory.count) * instances;
        if (demand.needs.disk.count == 0) continue;
        const fs::path& directory = demand.needs.directory;
        struct stat status {};
        if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
            base::fail_usage(demand.stressor, "[directory]: there is no directory ", directory.string());
        const double written = static_cast<double>(demand.needs.disk.count) * instances;
        double& here = disk[status.st_dev];
        here += written;
        const base::Bytes free = free_disk(directory);
        if (here > limits.max_disk.fraction() * static_cast<double>(free.count))
            base::fail_usage(demand.stressor, " takes ", size_text(here), " of disk", together, ", more than ",
                             base::format(limits.max_disk), " of the ", free.count / 1'000'000, " MB free in ",
                             directory.string(), " (--max-disk)");
        if (!in_memory(directory)) continue;
        memory += written;
        warnings.insert(base::join(demand.stressor, ": ", directory.string(),
                                   " is in memory, not on a disk: this is memory noise; give another directory"));
    }
    const base::Bytes available = available_memory();
    if (memory > limits.max_memory.fraction() * static_cast<double>(available.count))
        base::fail_usage("the stressors take ", size_text(memory), " of memory", together, ", more than ",
                         base::format(limits.max_memory), " of the ", available.count / 1'000'000,
                         " MB available (--max-memory)");
    for (const std::string& warning : warnings) std::cerr << "noisegen: " + warning + "\n";
}

}  // namespace noisegen
