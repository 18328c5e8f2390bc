// SPDX-License-Identifier: Apache-2.0
#include "base/system/clock.hpp"

#include <fstream>

#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>

namespace base {

namespace {

std::int64_t read_clock(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t now_ns()
{
    return read_clock(CLOCK_MONOTONIC);
}

std::int64_t thread_cpu_ns()
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

std::int64_t realtime_offset_ns()
{
    const std::int64_t before = read_clock(CLOCK_MONOTONIC);
    const std::int64_t real = read_clock(CLOCK_REALTIME);
    const std::int64_t after = read_clock(CLOCK_MONOTONIC);
    return real - (before + (after - before) / 2);
}

std::optional<std::int64_t> realtime_error_ns()
{
    timex state{};
    if (::adjtimex(&state) == TIME_ERROR || (state.status & STA_UNSYNC) != 0) return {};
    return static_cast<std::int64_t>(state.esterror) * 1000;
}

void sleep_until_ns(std::int64_t deadline_ns)
{
    if (deadline_ns <= 0) return;
    timespec time{};
    time.tv_sec = deadline_ns / 1'000'000'000;
    time.tv_nsec = deadline_ns % 1'000'000'000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

std::string ClockIdentity::text() const
{
    return boot_id + "/" + std::to_string(time_namespace) + "/" + clock;
}

ClockIdentity clock_identity()
{
    ClockIdentity identity;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> identity.boot_id;
    struct stat status {};
    if (stat("/proc/self/ns/time", &status) == 0) identity.time_namespace = status.st_ino;
    return identity;
}

}  // namespace base
