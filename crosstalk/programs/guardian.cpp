// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/programs/guardian.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "base/system/environment.hpp"
#include "crosstalk/programs/leftovers.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace crosstalk {

namespace {

// Closes terminals and pipes, since a reader might wait for their end.
[[noreturn]] void wait_for_a_kill(int life, const std::filesystem::path& mark)
{
    ::setsid();
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
    char well = 0;
    ssize_t got = 0;
    do {
        got = ::read(life, &well, 1);
    } while (got < 0 && errno == EINTR);
    try {
        if (got == 0) end_leftovers(mark);
    } catch (const std::exception&) {  // there is no one to report to
    }
    ::_exit(0);
}

}  // namespace

Guardian::Guardian(const std::filesystem::path& run)
{
    if (base::environment(base::campaign::variable)) return;
    // The mark differs between runs in the same directory.
    const std::filesystem::path mark = base::join(run.string(), " of process ", ::getpid());
    ::setenv(base::campaign::variable, mark.c_str(), 1);
    std::array<int, 2> ends{};
    base::check_errno(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "make a pair of sockets");
    life_ = ends[0];
    const base::Descriptor theirs{ends[1]};
    const pid_t child = base::check_errno(::fork(), "start a guardian");
    if (child == 0) {
        life_.close();
        if (::fork() == 0) wait_for_a_kill(theirs, mark);
        ::_exit(0);
    }
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Guardian::~Guardian()
{
    if (life_ < 0) return;
    constexpr char well = 1;
    ::send(life_, &well, 1, MSG_NOSIGNAL);
    ::unsetenv(base::campaign::variable);
}

}  // namespace crosstalk
