// SPDX-License-Identifier: Apache-2.0
// Other noisegens on the CPUs of this one: each takes from what the other is to reach.
#pragma once

#include "base/system/cpus.hpp"

#include <vector>

#include <sys/types.h>

namespace noisegen {

// Noisegens that are bound to some of `cpus`, but not to all that are `allowed`, as one that has not chosen yet. Not
// among them: this process, and those with the same parent, which are ranks of the same job.
std::vector<pid_t> other_noise(const base::CpuSet& cpus, const base::CpuSet& allowed);

}  // namespace noisegen
