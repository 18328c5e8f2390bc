// SPDX-License-Identifier: Apache-2.0
// Merges successive unsuccessful tests and probes into the single wait that they amount to.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

#include <cstdint>

namespace otf2 {

// Polling of one thread at its location. It continues across calls as long as nothing else is recorded at the location
// and the thread does little in between. In each pause, these count as polling: up to 20 us of computation, up to 10 ms
// of sleep, and all time in which others had the CPU (by sched_yield() or preemption). Other time may make up a tenth
// of the polling, so that one late wakeup does not end a long polling; but a loop that computes for 30 us between its
// tests is not polling.
class Polling {
 public:
    // Call when a test, probe or wait begins. Returns the start of the polling that it continues, or the current time.
    std::int64_t begin_call(const LocationRecorder& location);

    // Call when a test or probe ends unsuccessfully.
    void found_nothing();

 private:
    bool continues(const LocationRecorder& location, std::int64_t now_ns);

    bool open_ = false;
    std::int64_t begin_ns_ = 0;
    std::int64_t end_ns_ = 0;        // end of the last call
    std::int64_t other_ns_ = 0;      // time in pauses that does not count as polling
    std::int64_t cpu_ns_ = 0;        // the thread's CPU clock
    std::int64_t cpu_at_ns_ = 0;     // when cpu_ns_ was read
    std::int64_t sleeps_ = 0;        // the thread's sleeps so far
    std::int64_t sleeps_at_ns_ = 0;  // when sleeps_ was read
};

}  // namespace otf2
