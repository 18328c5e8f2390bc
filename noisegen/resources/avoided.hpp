// SPDX-License-Identifier: Apache-2.0
// CPUs that noise avoids: those named by the user, those of the same Slurm job, and those of the training.
#pragma once

#include "base/system/cpus.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace noisegen {

// Value of --avoid: CPUs, and processes; a process stands for the CPUs of its threads and descendants.
struct Avoid {
    base::CpuSet cpus{};
    std::vector<pid_t> processes;
    std::filesystem::path training = {};  // run directory of a training whose processes are avoided, too
};

// Parses "4-7", "0,2", "pid:4711" or "4711" (a process, since this machine has no such CPU). Throws UsageError for
// other words, and for a process that does not exist.
Avoid parse_avoid(const std::vector<std::string>& words);

// A process that noise must not disturb directly.
struct AvoidedProcess {
    pid_t pid = 0;
    std::string name;
    base::CpuSet cpus;
};

// The living processes of `avoid` with their descendants, and processes of the same Slurm job or training that are
// bound to part of `allowed` (the CPUs that this process had before it bound itself). Without this process, its
// ancestors, other noisegens, and launchers (an unbound process with children).
std::vector<AvoidedProcess> avoided_processes(const Avoid& avoid, const base::CpuSet& allowed);

// Processes of the training that may run on all of `allowed`: no choice of noise CPUs can avoid them.
std::set<pid_t> unbound_training(const Avoid& avoid, const base::CpuSet& allowed);

base::CpuSet cpus_of(const Avoid& avoid, const std::vector<AvoidedProcess>& avoided_processes);

}  // namespace noisegen
