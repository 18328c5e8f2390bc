// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/threads/stop_event.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <ctime>

#include <poll.h>
#include <sys/eventfd.h>

namespace noisegen {

StopEvent::StopEvent() : event_{base::check_errno(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "make an event")} {}

void StopEvent::set()
{
    set_ = true;
    ::eventfd_write(event_, 1);
}

bool StopEvent::sleep_until(std::int64_t deadline_ns) const
{
    constexpr std::int64_t second_ns = 1'000'000'000;
    while (true) {
        const std::int64_t left = deadline_ns - base::now_ns();
        if (left <= 0) return !is_set();
        pollfd event{event_, POLLIN, 0};
        const timespec patience{left / second_ns, left % second_ns};
        if (::ppoll(&event, 1, &patience, nullptr) == 1) return false;
    }
}

bool StopEvent::sleep_exactly_until(std::int64_t deadline_ns) const
{
    constexpr std::int64_t lead_ns = 120'000;
    if (!sleep_until(deadline_ns - lead_ns)) return false;
    while (base::now_ns() < deadline_ns) {
    }
    return !is_set();
}

}  // namespace noisegen
