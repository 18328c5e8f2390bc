#include "noisegen/limits.hpp"

#include "base/cgroups.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
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
    std::string limit;
    std::string usage;
    std::string droppable;  // in memory.stat
};
const CgroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};
const CgroupFiles version_2{"memory.max", "memory.current", "inactive_file "};

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
    for (const auto& [directory, version] : base::cgroup_directories("memory", root)) {
        const CgroupFiles& files = version == 1 ? version_1 : version_2;
        const auto limit = base::number_in(directory / files.limit);
        const auto usage = base::number_in(directory / files.usage);
        if (!limit || !usage) continue;
        const std::int64_t droppable = entry(directory / "memory.stat", files.droppable, 1);
        left = std::min(left, std::max<std::int64_t>(0, *limit - *usage + droppable));
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
