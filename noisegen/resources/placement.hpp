// SPDX-License-Identifier: Apache-2.0
// Which CPUs make noise: given, or found idle beside what must be avoided; and which of them runs which stressor.
#pragma once

#include "base/cli/options.hpp"
#include "base/system/cpus.hpp"
#include "base/system/local_rank.hpp"
#include "noisegen/resources/avoided.hpp"
#include "noisegen/schedule/schedule.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace noisegen {

// Request of --cpus and the options beside it.
struct CpuRequest {
    std::string cpus = "idle";   // or a list, or all
    std::string count = "all";   // cores of each noise process, at most
    std::string numa = "any";    // or a list of NUMA nodes: only their CPUs
    std::string socket = "any";  // same, other: than one of the avoided CPUs
    std::string near = "";       // gpu:0: only the socket of that device
    std::string far = "";        // gpu:0: only other sockets than that of the device
    std::string smt = "no";      // yes: on siblings of avoided CPUs too, and on single CPUs of a core
    bool share = false;          // on avoided CPUs too
};

// Adds them; the words of --avoid are for parse_avoid().
void add_placement(base::Options& options, CpuRequest& cpu_request, std::vector<std::string>& avoid);

// The CPUs that --cpus names; none for idle.
base::CpuSet named_cpus(const CpuRequest& cpu_request, const base::CpuSet& allowed);

// Basis of the choice.
struct Machine {
    std::vector<base::Core> cores;     // all of them, each with all its siblings
    base::CpuSet allowed;              // to this process: its affinity, which the cgroup's cpuset has cut already
    base::CpuSet avoided;              // by noise
    std::map<int, std::string> users;  // "python (4711)": who was found on an avoided CPU, where it is known
    std::filesystem::path root = "/";  // under which the kernel says what is near a device; another one in tests
};

// This machine, of which `allowed` is this process's.
Machine this_machine(const base::CpuSet& allowed, const Avoid& avoid);

// With --cpus idle and nothing to be avoided all cores but the first are candidates; the only one, if there is one.
bool leaves_a_core(const CpuRequest& cpu_request, const Machine& machine);

// All CPUs that the cpu_request allows, its count aside. Throws UsageError for a word that makes no sense, if no CPU is
// left, and for a list that takes what is to be avoided, or siblings of that.
base::CpuSet candidates(const CpuRequest& cpu_request, const Machine& machine);

// As many of `cores` as were asked for: one of each NUMA node in turn, so that noise does not gather in a corner.
std::vector<base::Core> spread(const std::vector<base::Core>& cores, std::size_t count);

// The part of `cores` for one of several noise processes that were started on this host. Throws UsageError if there are
// fewer cores than processes, unless they `share`.
base::CpuSet own_part(const std::vector<base::Core>& cores, base::LocalRank local, bool share);

// The candidates, of them this process's part where other noise processes may use the same CPUs, of that the count.
base::CpuSet choose_cpus(const CpuRequest& cpu_request, const Machine& machine);

// Where a noise CPU is.
struct CpuPlacement {
    int cpu = 0;
    base::Core core;             // with all its siblings
    bool avoided = false;        // shared on purpose
    base::CpuSet busy_siblings;  // among what is avoided
};
std::vector<CpuPlacement> placements(const base::CpuSet& cpus, const Machine& machine);

// "cpu 2: core 1, socket 0, node 0, idle"
std::string text(const CpuPlacement& placement);

// Value of --memory: NUMA nodes, or none for "local". Throws UsageError for one whose memory is not allowed for this
// process.
std::set<int> parse_memory(const std::string& text);

// For each of the schedule's stressors the noise CPUs that run it, in order: those of all `cores`; in a factorial those
// of a part of its own for each stressor that stresses its CPU, so that no core runs two of them; the first CPU of
// these for a stressor that needs one, the first of all for one that needs none. Throws UsageError for a factorial with
// fewer cores than stressors.
std::vector<std::vector<int>> divide(const Schedule& schedule, const std::vector<base::Core>& cores);

}  // namespace noisegen
