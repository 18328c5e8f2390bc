// SPDX-License-Identifier: Apache-2.0
// Messages of noisegen to the guardian of a job's CPUs, and its action: the job gets them back at the end of the slot,
// even if noisegen was killed or stopped.
#pragma once

#include "noisegen/stressors/job/confinement.hpp"

#include <bitset>
#include <climits>
#include <cstdint>

#include <sys/types.h>

namespace noisegen {

// One message; shorter than PIPE_BUF, so it comes whole.
struct ConfinementNews {
    static constexpr std::size_t most_cpus = 8192;  // of any Linux kernel
    using Mask = std::bitset<most_cpus>;

    enum class Kind : std::int32_t {
        begin,  // the threads of the next messages are confined from now on, `since` that tick and until `until_ns`
        add,    // `thread` is about to be confined
        end,    // all have their CPUs back
    };
    Kind kind = Kind::end;
    pid_t thread = 0;
    pid_t process = 0;
    pid_t rank = 0;
    std::uint64_t started = 0;
    std::uint64_t since = 0;
    std::int64_t until_ns = 0;  // CLOCK_MONOTONIC
    Mask before{};
    Mask within{};
};
static_assert(sizeof(ConfinementNews) < PIPE_BUF);

ConfinementNews::Mask mask_of(const base::CpuSet& cpus);

// So much later than announced the guardian gives a job its CPUs back.
constexpr std::int64_t confinement_grace_ns = 500'000'000;

// Reads news until the pipe closes. Restores a confinement that noisegen did not end: at its time and the grace, and
// when the pipe closes. Is not the kernel's first victim, as noisegen is.
void end_confinement(int pipe);

}  // namespace noisegen
