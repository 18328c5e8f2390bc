// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/job/job_family.hpp"

#include "base/contract/variables.hpp"
#include "base/system/cgroups.hpp"
#include "base/system/waiting.hpp"

#include <csignal>
#include <set>
#include <utility>

#include <unistd.h>

namespace noisegen {

// A process may be seen between fork and exec, which changes its environment, so the environment of a young process is
// read again.
bool JobFamily::is_marked(pid_t pid, const base::Process& process)
{
    constexpr int looks_while_young = 20;
    Seen& seen = seen_[pid];
    if (seen.started != process.started) seen = {.started = process.started};
    if (!seen.marked && seen.looks < looks_while_young) {
        ++seen.looks;
        seen.marked = base::has_variable(pid, base::variable::neighbour, mark_);
    }
    return seen.marked;
}

std::map<pid_t, base::Process> JobFamily::look()
{
    const std::map<pid_t, base::Process> all = base::processes();
    std::erase_if(seen_, [&](const auto& entry) { return !all.contains(entry.first); });
    std::set<pid_t> roots{::getpid()};
    for (const auto& [pid, process] : all)
        if (is_marked(pid, process)) roots.insert(pid);
    std::map<pid_t, base::Process> family;
    const std::set<pid_t> everyone = base::with_descendants(std::move(roots), all);
    hidden_ = base::hidden_children(everyone);
    for (const pid_t pid : everyone)
        if (const auto found = all.find(pid); found != all.end() && pid != ::getpid()) family.insert(*found);
    return family;
}

void end_marked(const std::string& mark, pid_t keeper)
{
    constexpr std::int64_t patience_ns = 5'000'000'000;
    constexpr std::int64_t look_again_ns = 10'000'000;
    const auto all_ended = [&] {
        bool any = false;
        for (const auto& [pid, process] : base::processes()) {
            if (!base::has_variable(pid, base::variable::neighbour, mark)) continue;
            any = true;
            ::kill(pid, SIGKILL);
            base::thaw_own_group(pid);
        }
        return !any;
    };
    base::wait_until(all_ended, patience_ns, look_again_ns);
    base::remove_freezer_of(keeper);
}

}  // namespace noisegen
