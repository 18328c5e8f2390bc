// SPDX-License-Identifier: Apache-2.0
// Other noisegen processes on the same CPUs, with which this one would share the achieved rates.
#pragma once

#include "base/system/cpus.hpp"

#include <vector>

#include <sys/types.h>

namespace noisegen {

// Noisegen processes bound to some of `cpus`. Without those bound to all of `allowed`, which have not chosen their CPUs
// yet, without this process, and without processes of the same parent, which are ranks of the same job.
std::vector<pid_t> other_noise(const base::CpuSet& cpus, const base::CpuSet& allowed);

}  // namespace noisegen
