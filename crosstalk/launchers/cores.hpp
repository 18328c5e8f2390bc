// SPDX-License-Identifier: Apache-2.0
// Division of this machine's CPUs between a job and its noise.
#pragma once

#include "base/system/cpus.hpp"

#include <cstdint>
#include <vector>

namespace crosstalk {

struct Split {
    base::CpuSet job;
    base::CpuSet noise;
    bool shared = false;  // job and noise have the same CPUs
};

// Divides the cores between job and noise. A set that is not given (empty) becomes the cores that the other set leaves.
// If neither is given, cores are dealt out in turn, so that job and noise share every socket and memory controller, as
// on a node whose idle cores are given to others; a single core goes to both. Throws UsageError if one of them gets no
// core, and for two sets that overlap without being equal.
Split split_cores(const std::vector<base::Core>& cores, const base::CpuSet& job, const base::CpuSet& noise);

// Swaps each pair of neighbouring cores at random. Job and noise still have one core of each pair, so they share the
// same resources.
void swap_neighbours(std::vector<base::Core>& cores, std::uint64_t seed);

}  // namespace crosstalk
