// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/watch/parent_watch.hpp"

#include "base/error.hpp"
#include "base/system/stop.hpp"

#include <array>
#include <cerrno>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ddl {

namespace {

// Waits until `parent` ends. True if `end` is written before that, or within orphan_patience after it.
bool ended_in_time(int parent, int end)
{
    std::array<pollfd, 2> both{
        {{.fd = end, .events = POLLIN, .revents = 0}, {.fd = parent, .events = POLLIN, .revents = 0}}};
    while (::poll(both.data(), both.size(), -1) < 0) {
    }
    if (both[0].revents != 0) return true;
    constexpr int patience_ms = std::chrono::milliseconds{orphan_patience}.count();
    return ::poll(both.data(), 1, patience_ms) > 0;
}

}  // namespace

ParentWatch::ParentWatch()
{
    const pid_t parent = ::getppid();
    base::stop_with_parent();
    end_ = base::check_errno(::eventfd(0, EFD_CLOEXEC), "make an eventfd");
    parent_ = static_cast<int>(::syscall(SYS_pidfd_open, parent, 0));
    const bool gone = parent_ < 0 && errno == ESRCH;
    if (gone || ::getppid() != parent) {
        base::request_stop();
        return;
    }
    if (parent_ < 0) return;  // this kernel or container has no pidfd, so only the parent's death signal is left
    thread_ = std::thread{[this] {
        if (!ended_in_time(parent_, end_)) ::_exit(base::exit_failed);
    }};
}

ParentWatch::~ParentWatch()
{
    const std::uint64_t one = 1;
    static_cast<void>(::write(end_, &one, sizeof one));
    if (thread_.joinable()) thread_.join();
}

}  // namespace ddl
