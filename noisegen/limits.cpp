#include "noisegen/limits.hpp"

#include "base/cgroups.hpp"
#include "base/error.hpp"
#include "noisegen/mpi_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <linux/magic.h>
#include <sys/resource.h>
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

// In the unit that what is free is told in.
std::string size_text(double bytes)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(bytes < 1e7 ? 3 : 0) << bytes * 1e-6 << " MB";
    return text.str();
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

std::optional<std::int64_t> free_files(const fs::path& directory)
{
    struct statvfs status {};
    base::check_errno(::statvfs(directory.c_str(), &status), "look at ", directory.string());
    if (status.f_files == 0) return {};  // made as they are needed (btrfs, and most file systems of clusters)
    return static_cast<std::int64_t>(status.f_favail);
}

namespace {

// What is taken of one file system.
struct Taken {
    double bytes = 0.0;
    double files = 0.0;
};

dev_t device_of(const Demand& demand)
{
    const fs::path& directory = demand.needs.directory;
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        base::fail_usage(demand.stressor, "[directory]: there is no directory ", directory.string());
    return status.st_dev;
}

void check_file_system(const Demand& demand, const Taken& taken, const Limits& limits, const std::string& together)
{
    const fs::path& directory = demand.needs.directory;
    const base::Bytes free = free_disk(directory);
    if (taken.bytes > limits.max_disk.fraction() * static_cast<double>(free.count))
        base::fail_usage(demand.stressor, " takes ", size_text(taken.bytes), " of disk", together, ", more than ",
                         base::format(limits.max_disk), " of the ", free.count / 1'000'000, " MB free in ",
                         directory.string(), " (--max-disk)");
    const std::optional<std::int64_t> files = free_files(directory);
    if (files && taken.files > limits.max_disk.fraction() * static_cast<double>(*files))
        base::fail_usage(demand.stressor, " makes ", std::llround(taken.files), " files", together, ", more than ",
                         base::format(limits.max_disk), " of the ", *files, " that can be made in ", directory.string(),
                         " (--max-disk)");
}

void check_files(const std::vector<Demand>& demands)
{
    double files = 0.0;
    for (const Demand& demand : demands) {
        files += static_cast<double>(demand.needs.files) * static_cast<double>(demand.instances);
        if (files > static_cast<double>(most_files_of_a_process))
            base::fail_usage(demand.stressor, "[files]: makes ", std::llround(files), " files on its CPUs, more than ",
                             most_files_of_a_process, ", which would take long to remove; give fewer");
    }
}

}  // namespace

void add_budgets(base::Options& options, Limits& limits)
{
    options.add("max-memory", limits.max_memory, "share of the available memory that may be taken", "PERCENT");
    options.add("max-disk", limits.max_disk,
                "share of the free disk space, and of the free files (inodes), that may be taken", "PERCENT");
}

std::vector<Demand> demands(const Schedule& schedule, const std::vector<std::vector<int>>& runs)
{
    std::vector<Demand> all;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto& [card, settings] = schedule.stressors[i];
        all.push_back({card->name, card->needs(settings), runs[i].size()});
    }
    return all;
}

void check_demands(const std::vector<Demand>& demands, const Limits& limits, int processes)
{
    for (const auto& [option, share] : {std::pair{"--max-memory", limits.max_memory}, {"--max-disk", limits.max_disk}})
        if (share.value > 100.0) base::fail_usage(option, ": ", base::format(share), " is more than all of it");

    const std::string together = processes > 1 ? base::join(" in ", processes, " processes") : "";
    double memory = 0.0;
    std::map<dev_t, Taken> disks;
    std::set<std::string> warnings;
    check_files(demands);
    for (const Demand& demand : demands) {
        if (demand.needs.mpi && !mpi_available())
            base::unavailable(demand.stressor,
                              " needs MPI, and noisegen was built without; network.stream does without");
        const double instances = static_cast<double>(demand.instances) * processes;
        memory += static_cast<double>(demand.needs.memory.count) * instances;
        if (demand.needs.directory.empty()) continue;
        const double written = static_cast<double>(demand.needs.disk.count) * instances;
        Taken& here = disks[device_of(demand)];
        here.bytes += written;
        here.files += static_cast<double>(demand.needs.files) * instances;
        check_file_system(demand, here, limits, together);
        if (!in_memory(demand.needs.directory)) continue;
        memory += written;
        warnings.insert(base::join(demand.stressor, ": ", demand.needs.directory.string(),
                                   " is in memory, not on a disk: this is memory noise; give another directory"));
    }
    const base::Bytes available = available_memory();
    if (memory > limits.max_memory.fraction() * static_cast<double>(available.count))
        base::fail_usage("takes ", size_text(memory), " of memory", together, ", more than ",
                         base::format(limits.max_memory), " of the ", available.count / 1'000'000,
                         " MB available (--max-memory)");
    for (const std::string& warning : warnings) std::cerr << "noisegen: " + warning + "\n";
}

void allow_descriptors(const std::vector<Demand>& demands)
{
    constexpr double opened_anyway = 256.0;  // records, MPI, libraries
    double open = opened_anyway;
    for (const Demand& demand : demands)
        open += static_cast<double>(demand.needs.descriptors) * static_cast<double>(demand.instances);
    rlimit limit{};
    base::check_errno(::getrlimit(RLIMIT_NOFILE, &limit), "read the limit of open files");
    if (open <= static_cast<double>(limit.rlim_cur)) return;
    if (open > static_cast<double>(limit.rlim_max))
        base::fail_usage("the stressors hold ", std::llround(open - opened_anyway),
                         " files and connections open, with ", opened_anyway,
                         " of noisegen's own more than the hard limit of ", limit.rlim_max,
                         " (ulimit -Hn); use fewer CPUs, or raise it");
    limit.rlim_cur = static_cast<rlim_t>(open);
    base::check_errno(::setrlimit(RLIMIT_NOFILE, &limit), "raise the limit of open files");
}

}  // namespace noisegen
