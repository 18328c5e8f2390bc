// SPDX-License-Identifier: Apache-2.0
// Tests and probes that find nothing, one right after another, as the one wait that they are.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

#include <cstdint>

namespace otf2 {

// Polling of one thread and its location. It continues from one call to the next as long as nothing else is recorded on
// the location and the thread does nothing worth the name in between: of each pause 20 us of computation are part of
// it, up to 10 ms of sleep, and all the time that others had the CPU (given away by sched_yield() or taken). What is
// beyond that may be a tenth of the polling: one late wake-up does not end a long one, and a loop that computes for
// 30 us between its tests never is one.
class Polling {
 public:
    // A test, probe or wait begins now: returns the begin of the polling that it continues, or now.
    std::int64_t begin_call(const LocationRecorder& location);

    // It ends now, and found nothing.
    void found_nothing();

 private:
    bool continues(const LocationRecorder& location, std::int64_t now_ns);

    bool open_ = false;
    std::int64_t begin_ns_ = 0;
    std::int64_t end_ns_ = 0;        // of the last call
    std::int64_t other_ns_ = 0;      // in pauses, beyond what is part of it
    std::int64_t cpu_ns_ = 0;        // the thread's CPU clock
    std::int64_t cpu_at_ns_ = 0;     // when it was read
    std::int64_t sleeps_ = 0;        // how often the thread has slept
    std::int64_t sleeps_at_ns_ = 0;  // when that was asked for
};

}  // namespace otf2
