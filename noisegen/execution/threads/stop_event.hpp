// SPDX-License-Identifier: Apache-2.0
// Sleep that a stop event ends early.
#pragma once

#include "base/descriptor.hpp"

#include <atomic>
#include <cstdint>

namespace noisegen {

// Once set, the event stays set, also for threads that look later. No thread wakes up before the event is set or its
// time has come.
class StopEvent {
 public:
    StopEvent();

    void set();
    bool is_set() const { return set_.load(std::memory_order_relaxed); }

    // Sleeps until the CLOCK_MONOTONIC time; returns false if the event was set first.
    bool sleep_until(std::int64_t deadline_ns) const;

    // The same, but more exactly: the kernel wakes sleepers 50 to 100 us late, so this function sleeps a little less
    // and then spins.
    bool sleep_exactly_until(std::int64_t deadline_ns) const;

 private:
    base::Descriptor event_;
    std::atomic<bool> set_ = false;
};

}  // namespace noisegen
