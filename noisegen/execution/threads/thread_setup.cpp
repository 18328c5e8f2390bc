// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/threads/thread_setup.hpp"

#include "base/error.hpp"
#include "base/system/cpus.hpp"

#include <algorithm>
#include <csignal>
#include <system_error>

namespace noisegen {

void leave_signals_alone()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void try_scheduling_classes(const Schedule& schedule, const std::string& own)
{
    for (const FactorLevel& level : schedule.levels) try {
            if (level.intensity.sched.empty()) continue;
            base::set_scheduling_class(level.intensity.sched);
            base::set_scheduling_class(own);
        } catch (const std::system_error& error) {
            base::unavailable(text(level), ": ", error.what(), " (sched=", level.intensity.sched,
                              " needs root, or ulimit -e 20)");
        }
}

bool bind_otherwise(const Schedule& schedule)
{
    return std::ranges::any_of(schedule.levels, [](const FactorLevel& level) {
        return level.intensity.limit && level.intensity.limit->kind == ResourceLimit::Kind::cpuset;
    });
}

}  // namespace noisegen
