// Peak memory of a part of a benchmark.
#pragma once

#include "base/error.hpp"

#include <cstdlib>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

// Runs the work in a process of its own, whose peak memory is its own.
template <class Work>
double peak_mb(const Work& work)
{
    const pid_t child = base::check_errno(::fork(), "start a process");
    if (child == 0) {
        try {
            work();
        } catch (...) {
            std::_Exit(base::report_failure("a part of the benchmark"));
        }
        std::_Exit(0);
    }
    int status = 0;
    rusage used{};
    base::check_errno(::wait4(child, &status, 0, &used), "wait for a process");
    if (status != 0) base::fail("a part of the benchmark failed");
    return static_cast<double>(used.ru_maxrss) / 1e3;
}

}  // namespace bench
