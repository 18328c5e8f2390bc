// SPDX-License-Identifier: Apache-2.0
#include "testing/process_cost.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"
#include "testing/testing.hpp"

#include <cstdlib>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace testing {

namespace {

double cpu_of_children_s()
{
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    rusage used{};
    base::check_errno(::getrusage(RUSAGE_CHILDREN, &used), "ask for CPU time");
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

double peak_mb(const std::function<void()>& work)
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
    return static_cast<double>(used.ru_maxrss) * 1024.0 / 1e6;
}

ProcessCost cost_of_children(const std::function<void()>& work)
{
    const double cpu_s = cpu_of_children_s();
    const std::int64_t begin_ns = base::now_ns();
    work();
    return {.cpu_s = cpu_of_children_s() - cpu_s, .wall_s = static_cast<double>(base::now_ns() - begin_ns) / 1e9};
}

ProcessCost cost_of_program(const std::vector<std::string>& words)
{
    return cost_of_children([&] {
        const Outcome outcome = run(words);
        if (outcome.status != 0)
            base::fail(words.front(), " ends with ", outcome.status, ": ", base::trim(outcome.err));
    });
}

}  // namespace testing
