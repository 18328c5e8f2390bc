// Which CPUs make noise: given, or found idle beside what must be avoided; and which of them runs which stressor.
#pragma once

#include "base/cpus.hpp"
#include "base/local_rank.hpp"
#include "noisegen/schedule.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace noisegen {

// What --avoid says: CPUs, and processes whose CPUs (those of their threads and descendants) are meant.
struct Avoid {
    base::CpuSet cpus;
    std::vector<pid_t> processes;
};

// "4-7", "0,2", "pid:4711", "4711" (no CPU of this machine has that number, so it is a process). Throws UsageError for
// other words, and for a process that is not there.
Avoid parse_avoid(const std::vector<std::string>& words);

// A process that noise must not disturb directly.
struct Neighbour {
    pid_t pid = 0;
    std::string name;
    base::CpuSet cpus;
};

// The living processes of `avoid`, with their descendants, and those of the same Slurm job that are bound to less than
// `allowed`: what this process might use before it bound itself. Not among them: this process, its ancestors, other
// noisegens, and launchers (an unbound process with children).
std::vector<Neighbour> neighbours(const Avoid& avoid, const base::CpuSet& allowed);

base::CpuSet cpus_of(const Avoid& avoid, const std::vector<Neighbour>& neighbours);

// The CPUs of all cores that lie wholly in `allowed` and touch nothing of `avoided`.
base::CpuSet idle_cpus(const std::vector<base::Core>& cores, const base::CpuSet& allowed, const base::CpuSet& avoided);

// The part of `cores` for one of several noise processes that were started on this host. Throws UsageError if there are
// fewer cores than processes, unless they `share`.
base::CpuSet own_part(const std::vector<base::Core>& cores, base::LocalRank local, bool share);

// What --cpus says, checked: "idle" or a list. Throws UsageError for CPUs that are not there, for an overlap with what
// is to be avoided (unless `share`), and if nothing is idle.
base::CpuSet choose_cpus(const std::string& text, const Avoid& avoid, bool share);

// For each of the schedule's stressors the noise CPUs that run it, in order: those of all `cores`; in a factorial those
// of a part of its own for each stressor that stresses its CPU, so that no core runs two of them; the first CPU for a
// stressor that needs none. Throws UsageError for a factorial with fewer cores than stressors.
std::vector<std::vector<int>> divide(const Schedule& schedule, const std::vector<base::Core>& cores);

}  // namespace noisegen
