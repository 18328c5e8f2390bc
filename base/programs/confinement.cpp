// SPDX-License-Identifier: Apache-2.0
#include "base/programs/confinement.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace base {

void end_with_parent(pid_t parent)
{
    check_errno(::prctl(PR_SET_PDEATHSIG, SIGKILL), "watch the parent process");
    if (::getppid() != parent) std::_Exit(exit_failed);
}

rlimit lower_limit(__rlimit_resource_t resource, rlim_t most)
{
    rlimit found{};
    check_errno(::getrlimit(resource, &found), "get the limits of the reading process");
    const rlimit less{.rlim_cur = std::min(most, found.rlim_cur), .rlim_max = found.rlim_max};
    check_errno(::setrlimit(resource, &less), "limit the reading process");
    return found;
}

int wait_status(pid_t child)
{
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) check_errno(-1, "wait for the reading process");
    return status;
}

}  // namespace base
