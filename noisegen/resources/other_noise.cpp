// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/other_noise.hpp"

#include "base/system/launcher.hpp"
#include "base/system/processes.hpp"

#include <algorithm>
#include <map>

#include <unistd.h>

namespace noisegen {

std::vector<pid_t> other_noise(const base::CpuSet& cpus, const base::CpuSet& allowed)
{
    const std::map<pid_t, base::Process> all = base::processes();
    const auto own = all.find(::getpid());
    if (own == all.end()) return {};
    const bool in_a_job = base::job_rank().size > 1;  // its ranks have the same parent
    std::vector<pid_t> others;
    for (const auto& [pid, found] : all) {
        if (pid == ::getpid() || found.name != own->second.name) continue;  // a guardian has another process name
        if (in_a_job && found.parent == own->second.parent) continue;
        const base::CpuSet bound = base::affinity_of(pid);
        const bool has_chosen = allowed.size() == 1 || !base::are_within(allowed, bound);
        const bool meets = base::have_common(bound, cpus);
        if (has_chosen && meets) others.push_back(pid);
    }
    return others;
}

}  // namespace noisegen
