// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/state/confined_work.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/programs/confinement.hpp"
#include "base/system/clock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace soft_errors {

namespace {

// First byte of the child's message.
enum class Says : char { answer = 'a', error = 'e', usage_error = 'u' };

// Silences messages of the C library or a sanitizer about a crash, and lets no file grow.
void confine(const WorkLimits& limits)
{
    for (const int crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) std::signal(crash, SIG_DFL);
    std::signal(SIGXFSZ, SIG_IGN);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
    base::lower_limit(RLIMIT_CORE, 0);
    base::lower_limit(RLIMIT_FSIZE, 0);
    base::lower_limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_s));
    if (!base::sanitized) base::lower_limit(RLIMIT_AS, limits.memory_bytes);
}

void say(int pipe, Says kind, const std::string& text)
{
    const std::string all = static_cast<char>(kind) + text;
    for (std::size_t at = 0; at < all.size();) {
        const ssize_t written = ::write(pipe, all.data() + at, all.size() - at);
        if (written < 0 && errno != EINTR) std::_Exit(base::exit_failed);
        if (written > 0) at += static_cast<std::size_t>(written);
    }
}

[[noreturn]] void work_in_child(int pipe, pid_t parent, const WorkLimits& limits,
                                const std::function<std::string()>& work)
{
    try {
        base::end_with_parent(parent);
        confine(limits);
        say(pipe, Says::answer, work());
    } catch (const base::UsageError& error) {
        say(pipe, Says::usage_error, error.what());
    } catch (const std::bad_alloc&) {
        say(pipe, Says::error, "reading needs more memory than allowed");
    } catch (const std::exception& error) {
        say(pipe, Says::error, error.what());
    }
    std::_Exit(base::exit_fine);
}

// The whole message of the child; none if it did not finish by the deadline.
std::optional<std::string> listen(int pipe, std::int64_t deadline_ns)
{
    std::string heard;
    std::array<char, 65536> room{};
    while (true) {
        const std::int64_t left_ms = (deadline_ns - base::now_ns()) / 1'000'000;
        pollfd readable{.fd = pipe, .events = POLLIN, .revents = 0};
        const int ready = ::poll(&readable, 1, static_cast<int>(std::max<std::int64_t>(left_ms, 0)));
        if (ready == 0) return std::nullopt;
        const ssize_t got = ready < 0 ? -1 : ::read(pipe, room.data(), room.size());
        if (got == 0) return heard;
        if (got > 0) heard.append(room.data(), static_cast<std::size_t>(got));
        if (got < 0 && errno != EINTR) base::check_errno(-1, "read from the reading process");
    }
}

}  // namespace

std::string confined_work(const std::string& what, const WorkLimits& limits, const std::function<std::string()>& work)
{
    constexpr std::int64_t s = 1'000'000'000;
    std::cout.flush();
    std::array<int, 2> ends{};
    base::check_errno(::pipe2(ends.data(), O_CLOEXEC), "make a pipe");
    const base::Descriptor ours{ends[0]};
    base::Descriptor theirs{ends[1]};
    const pid_t parent = ::getpid();
    const pid_t child = base::check_errno(::fork(), "start a process");
    if (child == 0) work_in_child(theirs, parent, limits, work);
    theirs.close();
    std::optional<std::string> heard = listen(ours, base::now_ns() + 10 * limits.cpu_s * s);
    if (!heard) ::kill(child, SIGKILL);
    const int status = base::wait_status(child);
    if (heard && !heard->empty() && WIFEXITED(status) && WEXITSTATUS(status) == base::exit_fine) {
        const auto kind = static_cast<Says>(heard->front());
        heard->erase(0, 1);
        if (kind == Says::usage_error) base::fail_usage(*heard);
        if (kind == Says::error) base::fail(*heard);
        return *std::move(heard);
    }
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        base::fail(what, " takes more than ", limits.cpu_s, " s to read: it is damaged");
    base::fail(what, " crashed HDF5's library",
               WIFSIGNALED(status) ? base::join(" (", ::strsignal(WTERMSIG(status)), ")") : "", ": damaged");
}

}  // namespace soft_errors
