// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/budgets.hpp"

#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/system/available.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <sys/resource.h>
#include <sys/stat.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

// Text in the unit that is used for the available amount.
std::string size_text(double bytes)
{
    return base::fixed(bytes * 1e-6, bytes < 1e7 ? 3 : 0) + " MB";
}

// Amounts taken of one file system.
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

void check_file_system(const Demand& demand, const Taken& taken, const Budgets& budgets, const std::string& together)
{
    const fs::path& directory = demand.needs.directory;
    const base::Bytes free = base::free_disk(directory);
    if (taken.bytes > budgets.max_disk.fraction() * static_cast<double>(free.count))
        base::fail_usage(demand.stressor, " takes ", size_text(taken.bytes), " of disk", together, ", more than ",
                         base::format(budgets.max_disk), " of the ", free.count / 1'000'000, " MB free in ",
                         directory.string(), " (--max-disk)");
    const std::optional<std::int64_t> files = base::free_files(directory);
    if (files && taken.files > budgets.max_disk.fraction() * static_cast<double>(*files))
        base::fail_usage(demand.stressor, " makes ", std::llround(taken.files), " files", together, ", more than ",
                         base::format(budgets.max_disk), " of the ", *files, " that can be made in ",
                         directory.string(), " (--max-disk)");
}

void check_files(const std::vector<Demand>& demands)
{
    double files = 0.0;
    for (const Demand& demand : demands) {
        files += static_cast<double>(demand.needs.files) * static_cast<double>(demand.instances);
        if (files > static_cast<double>(most_files_of_a_process))
            base::fail_usage(demand.stressor, "[files]: makes ", std::llround(files), " files on its CPUs, more than ",
                             most_files_of_a_process, "; removing them would take too long");
    }
}

}  // namespace

void add_budgets(base::Options& options, Budgets& budgets)
{
    options.add("max-memory", budgets.max_memory, "at most this share of the available memory", "PERCENT");
    options.add("max-disk", budgets.max_disk, "at most this share of the free disk space and inodes", "PERCENT");
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

void check_demands(const std::vector<Demand>& demands, const Budgets& budgets, int processes)
{
    for (const auto& [option, share] :
         {std::pair{"--max-memory", budgets.max_memory}, {"--max-disk", budgets.max_disk}})
        if (share.value > 100.0) base::fail_usage(option, ": ", base::format(share), " is more than 100%");

    const std::string together = processes > 1 ? base::join(" in ", processes, " processes") : "";
    double memory = 0.0;
    std::map<dev_t, Taken> disks;
    std::set<std::string> warnings;
    check_files(demands);
    for (const Demand& demand : demands) {
        if (demand.needs.mpi && !mpi_available())
            base::unavailable(demand.stressor,
                              " needs MPI, and noisegen was built without it; network.stream does not");
        const double instances = static_cast<double>(demand.instances) * processes;
        memory += static_cast<double>(demand.needs.memory.count) * instances;
        if (demand.needs.directory.empty()) continue;
        const double written = static_cast<double>(demand.needs.disk.count) * instances;
        Taken& here = disks[device_of(demand)];
        here.bytes += written;
        here.files += static_cast<double>(demand.needs.files) * instances;
        check_file_system(demand, here, budgets, together);
        if (!base::in_memory(demand.needs.directory)) continue;
        memory += written;
        warnings.insert(base::join(demand.stressor, ": ", demand.needs.directory.string(),
                                   " is in memory, not on a disk, so this is memory noise; give another directory"));
    }
    const base::Bytes available = base::available_memory();
    if (memory > budgets.max_memory.fraction() * static_cast<double>(available.count))
        base::fail_usage("takes ", size_text(memory), " of memory", together, ", more than ",
                         base::format(budgets.max_memory), " of the ", available.count / 1'000'000,
                         " MB available (--max-memory)");
    for (const std::string& warning : warnings) base::warn(warning);
}

void allow_descriptors(const std::vector<Demand>& demands)
{
    constexpr double opened_anyway = 256.0;  // descriptors for records, MPI and libraries
    double open = opened_anyway;
    for (const Demand& demand : demands)
        open += static_cast<double>(demand.needs.descriptors) * static_cast<double>(demand.instances);
    rlimit limit{};
    base::check_errno(::getrlimit(RLIMIT_NOFILE, &limit), "read the limit of open files");
    if (open <= static_cast<double>(limit.rlim_cur)) return;
    if (open > static_cast<double>(limit.rlim_max))
        base::fail_usage("the stressors need ", std::llround(open - opened_anyway),
                         " open files and connections, noisegen ", opened_anyway, ", but the hard limit is ",
                         limit.rlim_max, " (ulimit -Hn); use fewer CPUs, or raise it");
    limit.rlim_cur = static_cast<rlim_t>(open);
    base::check_errno(::setrlimit(RLIMIT_NOFILE, &limit), "raise the limit of open files");
}

}  // namespace noisegen
