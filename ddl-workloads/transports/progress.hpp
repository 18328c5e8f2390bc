// SPDX-License-Identifier: Apache-2.0
// How the transport thread waits for other ranks.
#pragma once

#include "base/descriptor.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <string>

namespace ddl {

// `spin` polls, `yield` gives the CPU away between polls, `sleep` rests between them. `automatic` yields, which is to
// spin where no other thread wants the CPU, and sleeps while threads anywhere on the machine wait for a CPU: only a CPU
// that is really idle takes them over.
struct Progress {
    enum class Policy { automatic, spin, yield, sleep };
    Policy policy = Policy::automatic;
    base::Nanoseconds rest{50'000};  // of `sleep`
};

// "auto", "spin", "yield", "sleep", "sleep=50us". Throws UsageError.
Progress parse_progress(const std::string& text);
std::string format(const Progress& progress);

// Rest of `automatic` after so long a wait: an eighth of it, at least 25 us, at most 500 us. So a wait lasts at most
// that much longer, and polls grow fewer as it grows longer.
std::int64_t rest_after(std::int64_t waited_ns);

// Whether threads of this machine wait for a CPU, by the kernel's pressure stall information. Looked at once a
// millisecond at most; without such information: always.
class CpuDemand {
 public:
    explicit CpuDemand(const char* file = "/proc/pressure/cpu");

    // More than a tenth of the time since the last look some thread waited.
    bool exceeds(std::int64_t now_ns);

 private:
    std::int64_t waited_ns() const;  // since boot; negative: not known

    base::Descriptor file_;
    std::int64_t looked_ns_ = 0;
    std::int64_t waited_by_then_ns_ = 0;
    bool exceeds_ = true;
};

// The calling thread waits as `progress` says: its rests end when they should, and once something has come it need not
// wait until a thread that computes has had its time slice (Linux 6.12 and newer).
class Waiting {
 public:
    explicit Waiting(const Progress& progress);
    const Progress& progress() const { return progress_; }

    void begin() { began_ns_ = 0; }
    void pause();

 private:
    Progress progress_;
    CpuDemand demand_;
    std::int64_t began_ns_ = 0;  // 0: no pause yet
};

}  // namespace ddl
