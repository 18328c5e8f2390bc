// SPDX-License-Identifier: Apache-2.0
#include "base/system/stop.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace base {

namespace {

std::atomic<int> asked{0};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr int asked_by_program = -1;

std::atomic<time_t> asked_at{0};  // seconds since the epoch
std::atomic<int> event{-1};

void signal_event()
{
    const eventfd_t one = 1;
    if (event >= 0) static_cast<void>(!::write(event, &one, sizeof one));
}

extern "C" void take_signal(int signal)
{
    int none = 0;
    if (asked.compare_exchange_strong(none, signal)) {
        asked_at = time(nullptr);
        const int code = errno;
        signal_event();
        errno = code;
        return;
    }
    // Launchers and terminals may deliver one Ctrl-C twice, so a second one counts only after a second.
    if (signal == SIGINT && none == SIGINT && time(nullptr) > asked_at + 1) _exit(128 + signal);
}

}  // namespace

void occupy_closed_streams()
{
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
}

void stop_on_signals()
{
    if (event < 0) event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct sigaction action {};
    action.sa_handler = take_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::signal(SIGPIPE, SIG_IGN);  // if the output's reader ends, the program still completes its records
    ::signal(SIGXFSZ, SIG_IGN);  // a file beyond ulimit -f becomes an error of its write, which is reported
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaction(signal, &action, nullptr);
}

void stop_with_parent()
{
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) request_stop();
}

bool stop_requested()
{
    return asked.load(std::memory_order_relaxed) != 0;
}

int stop_descriptor()
{
    return event;
}

int stop_signal()
{
    const int signal = asked.load();
    return signal > 0 ? signal : 0;
}

void end_if_stopped()
{
    if (const int signal = stop_signal()) throw Interrupted{signal};
}

void request_stop()
{
    int none = 0;
    asked.compare_exchange_strong(none, asked_by_program);
    signal_event();
}

}  // namespace base
