// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/programs/leftovers.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/cgroups.hpp"
#include "base/system/processes.hpp"
#include "base/system/waiting.hpp"

#include <csignal>
#include <set>

#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t end_within_ns = 6'000'000'000;

// Processes that have the variable in their environment. Processes of other users cannot be read, and are not ours.
std::set<pid_t> processes_of(const fs::path& run)
{
    std::set<pid_t> found;
    for (const auto& [pid, process] : base::processes())
        if (pid != ::getpid() && base::has_variable(pid, base::campaign::variable, run.string())) found.insert(pid);
    return found;
}

// Returns the groups in which a neighbour job was left frozen.
std::set<fs::path> signal_all(const std::set<pid_t>& processes, int signal)
{
    std::set<fs::path> thawed;
    for (const pid_t pid : processes) {
        ::kill(pid, signal);
        ::kill(pid, SIGCONT);
        if (const fs::path group = base::thaw_own_group(pid); !group.empty()) thawed.insert(group);
    }
    return thawed;
}

}  // namespace

void end_leftovers(const fs::path& partial)
{
    constexpr std::int64_t look_again_ns = 100'000'000;
    const auto gone = [&] { return processes_of(partial).empty(); };
    std::set<fs::path> groups;
    for (const int signal : {SIGTERM, SIGKILL}) {
        groups.merge(signal_all(processes_of(partial), signal));
        if (!base::wait_until(gone, end_within_ns, look_again_ns)) continue;
        std::error_code others_are_in_it;
        for (const fs::path& group : groups) fs::remove(group, others_are_in_it);
        return;
    }
    base::fail("processes of an earlier attempt are still running: ", partial.string());
}

void clear_leftovers(const fs::path& partial)
{
    end_leftovers(partial);
    base::remove_tree(partial);
}

}  // namespace crosstalk
