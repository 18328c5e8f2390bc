// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mpi/polling.hpp"

#include <algorithm>

#include <sys/resource.h>

namespace otf2 {

namespace {

constexpr std::int64_t free_computation_ns = 20'000;
constexpr std::int64_t free_sleep_ns = 10'000'000;
constexpr std::int64_t shares = 10;
constexpr std::int64_t counted_pause_ns = 1'000'000;  // a preempted computation must not become polling
constexpr std::int64_t sleeps_good_for_ns = 1'000'000;

// Returns how often this thread has slept. sched_yield() is not a sleep: the kernel counts it like a preemption.
std::int64_t sleeps()
{
    ::rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

}  // namespace

std::int64_t Polling::begin_call(const LocationRecorder& location)
{
    const std::int64_t now_ns = base::now_ns();
    if (!continues(location, now_ns)) {
        begin_ns_ = now_ns;
        other_ns_ = 0;
    }
    return begin_ns_;
}

bool Polling::continues(const LocationRecorder& location, std::int64_t now_ns)
{
    if (!open_ || location.last_ns() > begin_ns_) return false;
    const std::int64_t pause_ns = now_ns - end_ns_;
    if (pause_ns <= free_computation_ns) return true;
    const std::int64_t computed_ns = std::min(pause_ns, base::thread_cpu_ns() - cpu_ns_);
    other_ns_ += std::max<std::int64_t>(0, computed_ns - free_computation_ns);
    if (pause_ns > free_sleep_ns && sleeps() != sleeps_) other_ns_ += pause_ns - free_sleep_ns;
    return other_ns_ * shares <= end_ns_ - begin_ns_ + std::min(pause_ns, counted_pause_ns);
}

// System calls cost more than reading the clock, so recent values are reused. At worst, the next pause appears busier
// by the age of the value, or appears to contain a sleep.
void Polling::found_nothing()
{
    end_ns_ = base::now_ns();
    if (!open_ || end_ns_ - cpu_at_ns_ > free_computation_ns) {
        cpu_ns_ = base::thread_cpu_ns();
        cpu_at_ns_ = end_ns_;
    }
    if (!open_ || end_ns_ - sleeps_at_ns_ > sleeps_good_for_ns) {
        sleeps_ = sleeps();
        sleeps_at_ns_ = end_ns_;
    }
    open_ = true;
}

}  // namespace otf2
