// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/confined.hpp"

#include "base/error.hpp"
#include "base/programs/confinement.hpp"
#include "base/system/stop.hpp"

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace otf2 {

namespace {

itimerval until_stuck{};

// Memory shared by parent and child.
struct Reading {
    bool over = false;
    std::array<char, 4096> path{};  // archive being read; empty: none yet
};
Reading* shared_reading = nullptr;

void share_what_is_read()
{
    if (shared_reading == nullptr) {
        void* page = ::mmap(nullptr, sizeof(Reading), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) base::check_errno(-1, "share memory with the reading process");
        shared_reading = static_cast<Reading*>(page);
    }
    *shared_reading = {};
}

template <class... Parts>
[[noreturn]] void fail_reading(const Parts&... parts)
{
    if (shared_reading->path.front() == '\0') base::fail(parts...);
    base::fail("cannot read trace ", shared_reading->path.data(), ": ", parts...);
}

rlimit memory_found{RLIM_INFINITY, RLIM_INFINITY};  // the user's own limit, which reading_is_over() restores

[[noreturn]] void run_child(const char* program, const Limits& limits, pid_t parent, const std::function<int()>& work)
{
    int code = base::exit_failed;
    try {
        base::end_with_parent(parent);
        std::signal(SIGPIPE, SIG_DFL);
        base::lower_limit(RLIMIT_CORE, 0);
        memory_found = base::lower_limit(RLIMIT_DATA, base::sanitized ? RLIM_INFINITY : limits.memory_bytes);
        double whole_s = 0.0;
        const double rest_s = std::modf(limits.stuck_s, &whole_s);
        until_stuck.it_value = {.tv_sec = static_cast<time_t>(whole_s),
                                .tv_usec = static_cast<suseconds_t>(rest_s * 1e6)};
        getting_on();
        code = work();
    } catch (...) {
        code = base::report_failure(program);
    }
    std::exit(code);
}

// Waits for the child to end, and forwards a stop signal that this process receives.
void await_end(pid_t child)
{
    const int ended = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    if (ended < 0) return;
    std::array<pollfd, 2> either{{{.fd = ended, .events = POLLIN, .revents = 0},
                                  {.fd = base::stop_descriptor(), .events = POLLIN, .revents = 0}}};
    while (::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
    }
    if (const int signal = base::stop_signal()) ::kill(child, signal);
    ::close(ended);
}

}  // namespace

Limits limits_for(std::filesystem::path anchor)
{
    Limits limits;
    std::error_code missing;
    const std::uintmax_t bytes = std::filesystem::file_size(anchor.replace_extension(".def"), missing);
    if (!missing) limits.memory_bytes += 64 * bytes;
    return limits;
}

int confined(const char* program, const Limits& limits, const std::function<int()>& work)
{
    std::cout.flush();
    std::cerr.flush();
    base::stop_on_signals();
    share_what_is_read();
    const pid_t parent = ::getpid();
    const pid_t child = base::check_errno(::fork(), "start a process");
    if (child == 0) run_child(program, limits, parent, work);
    await_end(child);
    const int status = base::wait_status(child);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const int signal = WTERMSIG(status);
    switch (signal) {
        case SIGPROF:
            fail_reading("reading made no progress for ", limits.stuck_s, " s of CPU time: damaged");
        case SIGKILL:
            if (shared_reading->over) base::fail("the analysis was killed after reading (out of memory?)");
            fail_reading("the reading process was killed (out of memory?)");
        case SIGABRT:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGSEGV:
            if (shared_reading->over) base::fail("the analysis crashed after reading (", ::strsignal(signal), ")");
            fail_reading("OTF2's library crashed while it read (", ::strsignal(signal), "): damaged");
        default:
            throw base::Interrupted{signal};  // the signal was meant for the program: Ctrl-C, a closed pipe
    }
}

// The timer counts the CPU time of all threads; it sends SIGPROF, which ends the process, unless it is restarted here.
void getting_on()
{
    if (until_stuck.it_value.tv_sec == 0 && until_stuck.it_value.tv_usec == 0) return;
    base::end_if_stopped();
    ::setitimer(ITIMER_PROF, &until_stuck, nullptr);
}

void now_reading(const std::filesystem::path& anchor)
{
    if (shared_reading == nullptr) return;
    shared_reading->over = false;
    std::snprintf(shared_reading->path.data(), shared_reading->path.size(), "%s", anchor.c_str());
}

void reading_is_over()
{
    if (shared_reading == nullptr) return;
    shared_reading->over = true;
    until_stuck = {};
    base::check_errno(::setitimer(ITIMER_PROF, &until_stuck, nullptr), "stop the reading process's timer");
    base::check_errno(::setrlimit(RLIMIT_DATA, &memory_found), "restore the limits of the reading process");
}

}  // namespace otf2
