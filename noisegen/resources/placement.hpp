// SPDX-License-Identifier: Apache-2.0
// Chooses the noise CPUs (given ones, or idle ones that are not avoided), and the stressor that runs on each of them.
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

// Values of --cpus and related options.
struct CpuRequest {
    std::string cpus = "idle";   // "idle", "all" or a list
    std::string count = "all";   // maximum number of cores of each noise process
    std::string numa = "any";    // "any", or a list of NUMA nodes whose CPUs are used
    std::string socket = "any";  // "same" or "other": relative to the avoided CPUs' sockets
    std::string near = "";       // gpu:0: only the socket of that device
    std::string far = "";        // gpu:0: only other sockets than the device's
    std::string smt = "no";      // "yes": also siblings of avoided CPUs and single CPUs of a core
    bool share = false;          // also use avoided CPUs
};

// Adds these options; `avoid` receives the words for parse_avoid().
void add_placement(base::Options& options, CpuRequest& cpu_request, std::vector<std::string>& avoid);

// The CPUs that --cpus names; empty for idle.
base::CpuSet named_cpus(const CpuRequest& cpu_request, const base::CpuSet& allowed);

// Information for the choice of CPUs.
struct Machine {
    std::vector<base::Core> cores;       // all cores, each with all its siblings
    base::CpuSet allowed;                // this process's CPUs: its affinity, already limited by the cgroup's cpuset
    base::CpuSet avoided;                // CPUs that noise avoids
    std::map<int, std::string> users{};  // process found on an avoided CPU, "python (4711)", if known
    std::filesystem::path root = "/";    // replaced in tests; holds the kernel's files about devices
};

// This machine; `allowed` is the set of CPUs that this process may use.
Machine this_machine(const base::CpuSet& allowed, const Avoid& avoid);

// With --cpus idle and nothing to avoid: leaves the first core free, unless it is the only one.
bool leaves_a_core(const CpuRequest& cpu_request, const Machine& machine);

// All CPUs that the request allows, apart from its count. Throws UsageError for invalid words, if no CPU is left, and
// for a list that contains avoided CPUs or their siblings.
base::CpuSet candidates(const CpuRequest& cpu_request, const Machine& machine);

// `count` of the cores, from each NUMA node in turn, so that noise is spread over the machine.
std::vector<base::Core> spread(const std::vector<base::Core>& cores, std::size_t count);

// The part of `cores` for one of several noise processes started on this host. Throws UsageError if there are fewer
// cores than processes, unless `share` is set.
base::CpuSet own_part(const std::vector<base::Core>& cores, base::LocalRank local, bool share);

// The noise CPUs: the candidates, divided among noise processes that may use the same CPUs, limited to the count.
base::CpuSet choose_cpus(const CpuRequest& cpu_request, const Machine& machine);

// Location of a noise CPU.
struct CpuPlacement {
    int cpu = 0;
    base::Core core;               // the CPU's core, with all siblings
    bool avoided = false;          // an avoided CPU, shared on purpose
    base::CpuSet busy_siblings{};  // siblings that are avoided CPUs
};
std::vector<CpuPlacement> placements(const base::CpuSet& cpus, const Machine& machine);

// "cpu 2: core 1, socket 0, node 0, idle"
std::string text(const CpuPlacement& placement);

// Value of --memory: NUMA nodes; empty for "local". Throws UsageError for a node whose memory this process may not use.
std::set<int> parse_memory(const std::string& text);

// By stressor: the noise CPUs that run it, in order. By default these are all CPUs of `cores`. In a factorial each
// stressor that stresses its CPU gets cores of its own, so that no core runs two of them. A stressor that needs a
// single CPU gets the first of its CPUs; one that needs none gets the first of all. Throws UsageError for a factorial
// with fewer cores than stressors.
std::vector<std::vector<int>> divide(const Schedule& schedule, const std::vector<base::Core>& cores);

}  // namespace noisegen
