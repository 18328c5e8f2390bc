// Sleep that a stop cuts short.
#pragma once

#include <atomic>
#include <cstdint>

namespace noisegen {

// Rung once, heard by all threads, those that come later too. Nobody wakes up before it rings or the time has come.
class StopBell {
 public:
    StopBell();
    ~StopBell();
    StopBell(const StopBell&) = delete;
    StopBell& operator=(const StopBell&) = delete;

    void ring();
    bool rung() const { return rung_.load(std::memory_order_relaxed); }

    // Until the CLOCK_MONOTONIC time; false if the bell rang first.
    bool sleep_until(std::int64_t deadline_ns) const;

    // The same, but on time: the kernel wakes sleepers some 50 to 100 us late, so it sleeps a little less and waits for
    // the rest awake.
    bool sleep_exactly_until(std::int64_t deadline_ns) const;

 private:
    int event_ = -1;
    std::atomic<bool> rung_ = false;
};

}  // namespace noisegen
