#include "ddl-workloads/placement.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include <unistd.h>

namespace ddl {

namespace {

constexpr const char* placed_variable = "CROSSTALK_PLACED";  // holds the process id of the one that is placed

std::optional<std::string> variable(const char* name)
{
    const char* text = std::getenv(name);
    return text == nullptr ? std::nullopt : std::optional<std::string>{text};
}

std::optional<int> number(const char* name)
{
    const std::optional<std::string> text = variable(name);
    if (!text) return std::nullopt;
    try {
        return base::parse<int>(*text);
    } catch (const base::UsageError&) {
        return std::nullopt;
    }
}

// The part of n things that falls to one of several takers, in order: [first, second).
std::pair<std::size_t, std::size_t> part(std::size_t n, const LocalRank& local)
{
    const auto rank = static_cast<std::size_t>(local.rank);
    const auto size = static_cast<std::size_t>(local.size);
    return {n * rank / size, n * (rank + 1) / size};
}

}  // namespace

int slurm_tasks_on_node(std::string_view tasks_per_node, int node)
{
    for (const std::string& group : base::split(tasks_per_node, ',')) {
        const std::size_t bracket = group.find("(x");
        const int tasks = base::parse<int>(std::string_view{group}.substr(0, bracket));
        int nodes = 1;
        if (bracket != std::string::npos)
            nodes = base::parse<int>(std::string_view{group}.substr(bracket + 2, group.size() - bracket - 3));
        if (node < nodes) return tasks;
        node -= nodes;
    }
    base::fail("node ", node, " is not among ", tasks_per_node);
}

LocalRank local_rank()
{
    const auto rank = number("OMPI_COMM_WORLD_LOCAL_RANK");
    const auto size = number("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (rank && size) return {*rank, *size};
    const auto slurm_rank = number("SLURM_LOCALID");
    const auto node = number("SLURM_NODEID");
    const auto tasks = variable("SLURM_STEP_TASKS_PER_NODE");
    if (slurm_rank && node && tasks) return {*slurm_rank, slurm_tasks_on_node(*tasks, *node)};
    return {};
}

base::CpuSet share_of(const base::CpuSet& cpus, const LocalRank& local)
{
    const std::vector<base::Core> cores = base::physical_cores(cpus);
    const auto ranks = static_cast<std::size_t>(local.size);
    base::CpuSet share;
    if (cores.size() >= ranks) {
        const auto [first, last] = part(cores.size(), local);
        for (std::size_t i = first; i < last; ++i) share.insert(cores[i].cpus.begin(), cores[i].cpus.end());
        return share;
    }
    if (cpus.size() < ranks) return cpus;
    std::vector<int> by_core;
    for (const base::Core& core : cores) by_core.insert(by_core.end(), core.cpus.begin(), core.cpus.end());
    const auto [first, last] = part(by_core.size(), local);
    for (std::size_t i = first; i < last; ++i) share.insert(by_core[i]);
    return share;
}

void place(const std::optional<base::CpuSet>& cpus, int threads, char** argv)
{
    const std::string me = std::to_string(::getpid());
    const bool placed = variable(placed_variable) == me;
    ::unsetenv(placed_variable);
    if (placed) return;

    bool as_wanted = true;
    if (cpus) {
        base::check_cpus(*cpus);
        const base::CpuSet share = share_of(*cpus, local_rank());
        as_wanted = share == base::allowed_cpus();
        base::bind_this_thread(share);
    }
    const std::string count = std::to_string(threads);
    for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
        as_wanted = as_wanted && variable(name) == count;
        ::setenv(name, count.c_str(), 1);
    }
    // Each of these would bind OpenMP's threads elsewhere.
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
        as_wanted = as_wanted && !variable(name);
        ::unsetenv(name);
    }
    if (as_wanted) return;

    ::setenv(placed_variable, me.c_str(), 1);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    ::execv(program.c_str(), argv);
    base::check_errno(-1, "execute ", program, " again, placed");
}

}  // namespace ddl
