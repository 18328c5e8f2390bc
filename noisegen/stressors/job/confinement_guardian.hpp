// SPDX-License-Identifier: Apache-2.0
// The guardian of a confined job: gives the job its CPUs back at the end of the slot, even if noisegen was killed or
// stopped. noisegen sends it the messages below.
#pragma once

#include "noisegen/stressors/job/confinement.hpp"

#include <bitset>
#include <climits>
#include <cstdint>

#include <sys/types.h>

namespace noisegen {

// One message; shorter than PIPE_BUF, so it is read as a whole.
struct ConfinementNews {
    static constexpr std::size_t most_cpus = 8192;  // the most that Linux supports
    using Mask = std::bitset<most_cpus>;

    enum class Kind : std::int32_t {
        begin,  // confinement begins at tick `since` and ends at `until_ns`; its threads follow in `add` messages
        add,    // `thread` is about to be confined
        end,    // all threads have their CPUs back
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

// The guardian restores the CPUs this long after the announced end.
constexpr std::int64_t confinement_grace_ns = 500'000'000;

// Reads messages until the pipe closes. Restores a confinement that noisegen did not end: after the announced end and
// the grace time, or when the pipe closes. Unlike noisegen it does not put itself first among the kernel's
// out-of-memory victims.
void end_confinement(int pipe);

}  // namespace noisegen
