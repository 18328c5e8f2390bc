// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/job/confinement_guardian.hpp"

#include "noisegen/stressors/guardian.hpp"

#include <cerrno>
#include <fstream>

#include <unistd.h>

namespace noisegen {

namespace {

base::CpuSet cpus_of(const ConfinementNews::Mask& mask)
{
    base::CpuSet cpus;
    for (std::size_t cpu = 0; cpu < mask.size(); ++cpu)
        if (mask[cpu]) cpus.insert(static_cast<int>(cpu));
    return cpus;
}

ConfinedThread thread_of(const ConfinementNews& news)
{
    return {.rank = news.rank,
            .process = news.process,
            .started = news.started,
            .before = cpus_of(news.before),
            .within = cpus_of(news.within)};
}

}  // namespace

ConfinementNews::Mask mask_of(const base::CpuSet& cpus)
{
    ConfinementNews::Mask mask;
    for (const int cpu : cpus) mask.set(static_cast<std::size_t>(cpu));
    return mask;
}

void end_confinement(int pipe)
{
    std::ofstream{"/proc/self/oom_score_adj"} << 0 << std::flush;
    Confined confined;
    bool on = false;
    std::int64_t until_ns = 0;
    while (true) {
        if (on && !wait_for_message(pipe, until_ns + confinement_grace_ns)) {
            restore(confined);
            on = false;
        }
        ConfinementNews news;
        const ssize_t got = ::read(pipe, &news, sizeof news);
        if (got < 0 && errno == EINTR) continue;
        if (got != sizeof news) break;
        switch (news.kind) {
            case ConfinementNews::Kind::begin:
                confined = {.since = news.since};
                until_ns = news.until_ns;
                on = true;
                break;
            case ConfinementNews::Kind::add:
                confined.threads[news.thread] = thread_of(news);
                break;
            case ConfinementNews::Kind::end:
                on = false;
                break;
        }
    }
    if (on) restore(confined);
}

}  // namespace noisegen
