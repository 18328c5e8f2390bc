// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/job/confinement.hpp"

#include "base/error.hpp"

#include <cerrno>

#include <unistd.h>

namespace noisegen {

namespace {

// Threads may be created after the threads are listed and before their creator is bound, so passes are repeated.
constexpr int most_passes = 100;

// An error because the thread has ended does not count.
bool refused_to_bind(pid_t thread, const base::CpuSet& cpus)
{
    return !base::bind_thread(thread, cpus) && errno != ESRCH;
}

const ConfinedThread* on_record(const Confined& confined, pid_t id, const base::Process& thread)
{
    const auto found = confined.threads.find(id);
    return found != confined.threads.end() && found->second.started == thread.started ? &found->second : nullptr;
}

// The recorded thread from which this thread, which is not recorded, inherited its mask. None if it is older than the
// confinement, or has changed its mask. Threads of the same process take precedence, their first thread before others,
// then the first thread of the rank.
const ConfinedThread* creator_of(const Confined& confined, pid_t rank, pid_t process, const base::Process& thread,
                                 const base::CpuSet& mask)
{
    if (thread.started < confined.since) return nullptr;
    const auto nearness = [&](pid_t id, const ConfinedThread& other) {
        if (other.process == process) return id == process ? 3 : 2;
        return id == rank ? 1 : 0;
    };
    const ConfinedThread* nearest = nullptr;
    int best = -1;
    for (const auto& [id, other] : confined.threads)
        if (other.rank == rank && other.within == mask && nearness(id, other) > best) {
            nearest = &other;
            best = nearness(id, other);
        }
    return nearest;
}

// By rank: recorded processes that are still running.
std::map<pid_t, std::set<pid_t>> living(const Confined& confined, const std::map<pid_t, base::Process>& all)
{
    std::map<pid_t, std::set<pid_t>> ranks;
    for (const auto& [id, thread] : confined.threads) {
        const auto found = all.find(id);
        if (id == thread.process && found != all.end() && found->second.started == thread.started)
            ranks[thread.rank].insert(id);
    }
    return ranks;
}

}  // namespace

void check_may_confine(const std::set<pid_t>& processes, const std::map<pid_t, base::Process>& all)
{
    const std::set<pid_t> family = base::with_ancestors(::getpid(), all);
    for (const pid_t pid : processes) {
        const auto found = all.find(pid);
        if (found == all.end()) continue;
        if (family.contains(pid)) base::fail("process ", pid, " is noisegen or its ancestor and is not confined");
        if (found->second.owner != ::geteuid())
            base::fail("process ", pid, " (", found->second.name, ") belongs to another user and is not confined");
    }
}

std::size_t confine(const base::job_cores::CpusOfRanks& kept, Confined& confined,
                    const std::function<void(pid_t, const ConfinedThread&)>& remember)
{
    std::set<pid_t> refused;
    bool any_new = true;
    for (int pass = 0; any_new && pass < most_passes; ++pass) {
        any_new = false;
        const std::map<pid_t, base::Process> all = base::processes();
        std::map<pid_t, std::set<pid_t>> ranks = living(confined, all);  // includes children of parents that have ended
        for (const auto& [rank, cpus] : kept) {
            ranks[rank].insert(rank);
            const std::set<pid_t> family = base::with_descendants(ranks[rank], all);
            check_may_confine(family, all);
            for (const pid_t pid : family)
                for (const auto& [id, thread] : base::threads_of(pid)) {
                    if (on_record(confined, id, thread) != nullptr) continue;
                    const base::CpuSet mask = base::affinity_of(id);
                    if (mask.empty()) continue;  // the thread has ended
                    ConfinedThread one{.rank = rank, .process = pid, .started = thread.started, .before = mask};
                    if (const ConfinedThread* creator = creator_of(confined, rank, pid, thread, mask))
                        one.before = creator->before;
                    one.within = base::common_cpus(one.before, cpus);
                    if (one.within.empty()) one.within = cpus;
                    remember(id, one);
                    confined.threads[id] = one;
                    if (refused_to_bind(id, one.within)) refused.insert(id);
                    any_new = true;
                }
        }
    }
    return refused.size();
}

std::size_t restore(const Confined& confined)
{
    std::set<pid_t> bound_otherwise;
    bool any_restored = true;
    for (int pass = 0; any_restored && pass < most_passes; ++pass) {
        any_restored = false;
        bound_otherwise.clear();
        const std::map<pid_t, base::Process> all = base::processes();
        for (const auto& [rank, roots] : living(confined, all))
            for (const pid_t pid : base::with_descendants(roots, all))
                for (const auto& [id, thread] : base::threads_of(pid)) {
                    const base::CpuSet mask = base::affinity_of(id);
                    const ConfinedThread* own = on_record(confined, id, thread);
                    if (own != nullptr && mask != own->within && mask != own->before) bound_otherwise.insert(id);
                    if (own != nullptr && mask != own->within) continue;
                    if (own == nullptr) own = creator_of(confined, rank, pid, thread, mask);
                    if (own == nullptr || own->before == mask) continue;
                    if (base::bind_thread(id, own->before)) any_restored = true;
                }
    }
    return bound_otherwise.size();
}

}  // namespace noisegen
