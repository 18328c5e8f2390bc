// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/ending_signals.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace otf2 {

namespace {

// Set before the first handler is installed.
void (*finish_first)(int signal) = nullptr;
std::array<int, 2> numbers{-1, -1};  // pipe on which the handler sends the signal's number to the thread
::pid_t owner = 0;

void restore_default(int signal)
{
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
}

// A signal handler, so it only calls write() and raise(). A forked process inherits the handler, but not the thread.
extern "C" void pass_on(int signal)
{
    const int code = errno;
    if (::getpid() != owner) {
        restore_default(signal);
        ::raise(signal);  // delivered once this handler returns
    } else {
        const auto number = static_cast<unsigned char>(signal);
        static_cast<void>(!::write(numbers[1], &number, 1));
    }
    errno = code;
}

extern "C" void* wait_for_one(void*)
{
    unsigned char number = 0;
    ::ssize_t got = 0;
    do {
        got = ::read(numbers[0], &number, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) return nullptr;
    const int signal = number;
    finish_first(signal);
    restore_default(signal);
    ::sigset_t only{};
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    ::kill(::getpid(), signal);
    ::_exit(128 + signal);  // reached by the first process of a container, which such signals do not end
}

// The thread blocks all signals, so that the program's own threads receive them.
bool start_thread()
{
    ::sigset_t all{};
    ::sigset_t before{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    ::pthread_t thread{};
    const int code = ::pthread_create(&thread, nullptr, wait_for_one, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (code == 0) ::pthread_detach(thread);
    return code == 0;
}

}  // namespace

const char* name_of_ending(int signal)
{
    return signal == SIGTERM ? "SIGTERM" : signal == SIGINT ? "SIGINT" : "SIGHUP";
}

void before_ending_signals(void (*finish)(int signal))
{
    finish_first = finish;
    owner = ::getpid();
    if (::pipe2(numbers.data(), O_CLOEXEC) != 0 || !start_thread()) return;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)
            continue;
        struct sigaction action {};
        action.sa_handler = pass_on;
        ::sigfillset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        ::sigaction(signal, &action, nullptr);
    }
}

}  // namespace otf2
