// SPDX-License-Identifier: Apache-2.0
// The guardian of pauses: a process that continues stopped processes in time, even if noisegen was killed or stopped
// itself. noisegen sends it the messages below.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace noisegen {

// One message; shorter than PIPE_BUF, so it is read as a whole.
struct PauseNews {
    enum class Kind : std::int32_t {
        forget,  // forget all processes
        add,     // `pid` is one of the processes to be stopped
        begin,   // they are about to be stopped, at most until `until_ns` (CLOCK_MONOTONIC)
        end,     // the processes continue
    };
    Kind kind = Kind::forget;
    pid_t pid = 0;
    std::int64_t until_ns = 0;
};

// The guardian ends a pause this long after its announced end.
constexpr std::int64_t pause_grace_ns = 20'000'000;

// Reads messages until the pipe closes. Continues processes (SIGCONT) whose pause noisegen did not end: after the
// announced end and the grace time, repeatedly until noisegen reports the end, and when the pipe closes. Unlike
// noisegen it does not put itself first among the kernel's out-of-memory victims.
void end_pauses(int pipe);

}  // namespace noisegen
