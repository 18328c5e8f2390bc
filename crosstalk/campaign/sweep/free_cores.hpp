// SPDX-License-Identifier: Apache-2.0
// Cores for the workers of a sweep, which no training on this machine holds.
#pragma once

#include "base/system/cpus.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace crosstalk {

// A process of a training, with its descendants.
struct Holder {
    pid_t pid = 0;
    std::filesystem::path run;  // directory of the training's run
    base::CpuSet cpus;          // of all its threads
    bool bound = true;          // false: it may run on all CPUs of the machine, so no choice can avoid it
};

// The trainings on this machine whose control file this user may read. Trials of sweeps are left out.
std::vector<Holder> trainings_here();

// CPUs of the workers of all sweeps on this machine but that in `own`.
base::CpuSet cpus_of_other_sweeps(const std::filesystem::path& own);

// CPUs of each worker: `cores` physical cores of `allowed`, none of which a holder uses; at most `workers` sets, all if
// 0. Throws UsageError if fewer are free, or none.
std::vector<base::CpuSet> cores_of_workers(const base::CpuSet& allowed, const std::vector<Holder>& holders, int cores,
                                           int workers);

// Why these CPUs cannot be a worker's: "process 4711 of the training in DIR holds CPU 2". None: no training
// that is bound holds them.
std::optional<std::string> who_holds(const base::CpuSet& cpus, const std::vector<Holder>& holders);

}  // namespace crosstalk
