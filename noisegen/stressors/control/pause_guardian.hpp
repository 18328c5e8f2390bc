// SPDX-License-Identifier: Apache-2.0
// Messages of noisegen to the guardian of its pauses, and its actions: stopped processes continue, in time, even
// if noisegen was killed or stopped itself.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace noisegen {

// One message; shorter than PIPE_BUF, so it comes whole.
struct PauseNews {
    enum class Kind : std::int32_t {
        forget,  // forget all processes
        add,     // `pid` is one of those that will be stopped
        begin,   // they are about to be stopped, until `until_ns` (CLOCK_MONOTONIC) at the latest
        end,     // they go on
    };
    Kind kind = Kind::forget;
    pid_t pid = 0;
    std::int64_t until_ns = 0;
};

// So much later than announced a pause is ended by the guardian.
constexpr std::int64_t pause_grace_ns = 20'000'000;

// Reads news until the pipe closes. Ends a pause (SIGCONT) that noisegen did not end: at its time and the grace, again
// and again until noisegen says that it is over, and when the pipe closes. Is not the kernel's first victim, as
// noisegen is.
void end_pauses(int pipe);

}  // namespace noisegen
