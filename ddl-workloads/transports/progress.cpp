// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/progress.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ddl {

namespace {

const std::vector<std::pair<std::string, Progress::Policy>> policies{{"auto", Progress::Policy::automatic},
                                                                     {"spin", Progress::Policy::spin},
                                                                     {"yield", Progress::Policy::yield},
                                                                     {"sleep", Progress::Policy::sleep}};

// The struct of sched_setattr(2), which glibc provides only since 2.41.
struct SchedulingAttributes {
    std::uint32_t size = sizeof(SchedulingAttributes);
    std::uint32_t sched_policy = 0;
    std::uint64_t sched_flags = 0;
    std::int32_t sched_nice = 0;
    std::uint32_t sched_priority = 0;
    std::uint64_t sched_runtime = 0;
    std::uint64_t sched_deadline = 0;
    std::uint64_t sched_period = 0;
};

// Requests a short time slice for this thread. Kernels without per-thread slices ignore it.
void ask_for_short_slices()
{
    SchedulingAttributes attributes;
    if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
    if (attributes.sched_policy != SCHED_OTHER) return;
    attributes.sched_runtime = 100'000;  // ns, the shortest slice that Linux allows
    ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

Progress parse_progress(const std::string& text)
{
    for (const auto& [name, policy] : policies)
        if (text == name) return {.policy = policy};
    if (text.starts_with("sleep=")) {
        const Progress progress{.policy = Progress::Policy::sleep,
                                .rest = base::parse<base::Nanoseconds>(text.substr(6))};
        if (progress.rest.count() <= 0) base::fail_usage("--progress ", text, ": the sleep must be more than zero");
        return progress;
    }
    base::fail_usage("--progress '", text, "' is not one of auto|spin|yield|sleep=50us",
                     base::did_you_mean(text, std::vector<std::string>{"auto", "spin", "yield", "sleep"}));
}

std::string format(const Progress& progress)
{
    if (progress.policy == Progress::Policy::sleep) return "sleep=" + base::format(progress.rest);
    return std::find_if(policies.begin(), policies.end(),
                        [&](const auto& one) { return one.second == progress.policy; })
        ->first;
}

std::int64_t rest_after(std::int64_t waited_ns)
{
    return std::clamp<std::int64_t>(waited_ns / 8, 25'000, 500'000);
}

CpuDemand::CpuDemand(const char* file) : file_{::open(file, O_RDONLY | O_CLOEXEC)}, waited_by_then_ns_{waited_ns()} {}

// The file's first line: some avg10=0.00 avg60=0.00 avg300=0.00 total=<us>
std::int64_t CpuDemand::waited_ns() const
{
    constexpr std::string_view name = "total=";
    std::array<char, 256> room{};
    const ssize_t length = file_ < 0 ? -1 : ::pread(file_, room.data(), room.size(), 0);
    if (length <= 0) return -1;
    const std::string_view text{room.data(), static_cast<std::size_t>(length)};
    const std::size_t place = text.find(name);
    if (place == std::string_view::npos) return -1;
    const std::string_view number = text.substr(place + name.size());
    std::int64_t waited_us = -1;
    std::from_chars(number.data(), number.data() + number.size(), waited_us);
    return waited_us < 0 ? -1 : waited_us * 1'000;
}

bool CpuDemand::exceeds(std::int64_t now_ns)
{
    constexpr std::int64_t between_looks_ns = 1'000'000;
    const std::int64_t since_look_ns = now_ns - looked_ns_;
    if (since_look_ns < between_looks_ns) return exceeds_;
    const std::int64_t waited = waited_ns();
    exceeds_ = waited < 0 || (waited - waited_by_then_ns_) * 10 > since_look_ns;
    waited_by_then_ns_ = waited;
    looked_ns_ = now_ns;
    return exceeds_;
}

Waiting::Waiting(const Progress& progress) : progress_{progress}
{
    ::prctl(PR_SET_TIMERSLACK, 1'000UL);  // ns
    ask_for_short_slices();
}

void Waiting::pause()
{
    if (progress_.policy == Progress::Policy::spin) return;
    if (progress_.policy == Progress::Policy::yield) {
        ::sched_yield();
        return;
    }
    const std::int64_t now = base::now_ns();
    if (progress_.policy == Progress::Policy::sleep) return base::sleep_until_ns(now + progress_.rest.count());
    if (began_ns_ == 0) began_ns_ = now;
    if (demand_.exceeds(now))
        base::sleep_until_ns(now + rest_after(now - began_ns_));
    else
        ::sched_yield();
}

}  // namespace ddl
