// SPDX-License-Identifier: Apache-2.0
// Which CPUs of this machine a job gets, and which its noise.
#pragma once

#include "base/system/cpus.hpp"

#include <cstdint>
#include <vector>

namespace crosstalk {

struct Split {
    base::CpuSet job;
    base::CpuSet noise;
    bool shared = false;  // both have the same CPUs
};

// Splits the cores that both may use. A set that is not given (empty) is the cores that the other one leaves. With
// neither given cores are dealt out in turn, so that job and noise share every socket and every memory controller, as
// on a node whose idle cores are given away; a single core goes to both. Throws UsageError where nothing is left, and
// for two sets that overlap without being the same.
Split split_cores(const std::vector<base::Core>& cores, const base::CpuSet& job, const base::CpuSet& noise);

// Draws which of each two neighbours comes first: both still have one of the two, so job and noise share what they
// shared.
void swap_neighbours(std::vector<base::Core>& cores, std::uint64_t seed);

}  // namespace crosstalk
