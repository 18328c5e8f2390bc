// SPDX-License-Identifier: Apache-2.0
// How the transport thread waits for other ranks (--progress).
#pragma once

#include "base/descriptor.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <string>

namespace ddl {

// `spin` polls, `yield` gives the CPU away between polls, `sleep` rests between polls. `automatic` yields, which equals
// spinning if no other thread wants the CPU; but it sleeps while threads anywhere on the machine wait for a CPU, since
// these only move to a CPU that is really idle.
struct Progress {
    enum class Policy { automatic, spin, yield, sleep };
    Policy policy = Policy::automatic;
    base::Nanoseconds rest{50'000};  // pause of `sleep` between polls
};

// Parses "auto", "spin", "yield", "sleep" or "sleep=50us". Throws UsageError.
Progress parse_progress(const std::string& text);
std::string format(const Progress& progress);

// Pause of `automatic` after waiting for `waited_ns`: an eighth of that time, within 25 us and 500 us. So a pause
// prolongs the wait by at most that much, and polls become rarer in a long wait.
std::int64_t rest_after(std::int64_t waited_ns);

// Whether threads of this machine wait for a CPU, from the kernel's pressure stall information, read at most once a
// millisecond. If the kernel does not provide it, the answer is always yes.
class CpuDemand {
 public:
    explicit CpuDemand(const char* file = "/proc/pressure/cpu");

    // True if some thread waited for more than a tenth of the time since the last look.
    bool exceeds(std::int64_t now_ns);

 private:
    std::int64_t waited_ns() const;  // since boot; negative: not known

    base::Descriptor file_;
    std::int64_t looked_ns_ = 0;
    std::int64_t waited_by_then_ns_ = 0;
    bool exceeds_ = true;
};

// Makes the calling thread wait as `progress` says, with exact timers for its pauses. After a wakeup, the thread runs
// before the time slice of a computing thread ends (Linux 6.12 and newer).
class Waiting {
 public:
    explicit Waiting(const Progress& progress);
    const Progress& progress() const { return progress_; }

    void begin() { began_ns_ = 0; }
    void pause();

 private:
    Progress progress_;
    CpuDemand demand_;
    std::int64_t began_ns_ = 0;  // 0: no pause yet in this wait
};

}  // namespace ddl
