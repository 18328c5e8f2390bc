// SPDX-License-Identifier: Apache-2.0
// CPUs that noise avoids: named ones, those of the same Slurm job, those of the training beside it.
#pragma once

#include "base/system/cpus.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace noisegen {

// Value of --avoid: CPUs, and processes whose CPUs (those of their threads and descendants) are meant.
struct Avoid {
    base::CpuSet cpus;
    std::vector<pid_t> processes;
    std::filesystem::path training = {};  // the run's directory of a training; its processes, too
};

// "4-7", "0,2", "pid:4711", "4711" (no CPU of this machine has that number, so it is a process). Throws UsageError for
// other words, and for a process that is not there.
Avoid parse_avoid(const std::vector<std::string>& words);

// A process that noise must not disturb directly.
struct AvoidedProcess {
    pid_t pid = 0;
    std::string name;
    base::CpuSet cpus;
};

// The living processes of `avoid`, with their descendants; and those of the same Slurm job or of the training that are
// bound to less than `allowed`: what this process might use before it bound itself. Not among them: this process, its
// ancestors, other noisegens, and launchers (an unbound process with children).
std::vector<AvoidedProcess> avoided_processes(const Avoid& avoid, const base::CpuSet& allowed);

// The processes of the training that may run on all of `allowed`: no choice of CPUs keeps noise from them.
std::set<pid_t> unbound_training(const Avoid& avoid, const base::CpuSet& allowed);

base::CpuSet cpus_of(const Avoid& avoid, const std::vector<AvoidedProcess>& avoided_processes);

}  // namespace noisegen
