// SPDX-License-Identifier: Apache-2.0
// Sleep that a stop cuts short.
#pragma once

#include "base/descriptor.hpp"

#include <atomic>
#include <cstdint>

namespace noisegen {

// Rung once, heard by all threads, those that come later too. No thread wakes up before it rings or the time has come.
class StopEvent {
 public:
    StopEvent();

    void set();
    bool is_set() const { return set_.load(std::memory_order_relaxed); }

    // Sleeps until the CLOCK_MONOTONIC time; false if the event was set first.
    bool sleep_until(std::int64_t deadline_ns) const;

    // The same, but on time: the kernel wakes sleepers some 50 to 100 us late, so it sleeps a little less and waits for
    // the rest awake.
    bool sleep_exactly_until(std::int64_t deadline_ns) const;

 private:
    base::Descriptor event_;
    std::atomic<bool> set_ = false;
};

}  // namespace noisegen
