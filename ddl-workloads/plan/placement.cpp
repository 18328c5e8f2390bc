// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/plan/placement.hpp"

#include "base/cli/option_checks.hpp"
#include "base/error.hpp"
#include "base/system/environment.hpp"
#include "base/system/local_rank.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace ddl {

namespace {

constexpr const char* placed_variable = "CROSSTALK_PLACED";  // holds the id of the process that has already been placed

}  // namespace

void add_placement_options(base::Options& options, PlacementPlan& plan)
{
    options.group("Where");
    options.add("threads", plan.threads, "compute threads per rank, including OpenBLAS and OpenMP", "NUMBER");
    options.add_word(
        "cpus", "",
        "bind all threads to these CPUs, divided over the ranks of a node, by whole cores if there are enough", "LIST");
    options.add_word("transport-cpus", "", "bind each rank's transport thread to these CPUs, divided likewise", "LIST");
    options.then([&options, &plan] {
        if (const std::string& cpus = options.text("cpus"); !cpus.empty()) plan.cpus = base::parse_cpus(cpus);
        if (const std::string& cpus = options.text("transport-cpus"); !cpus.empty())
            plan.transport_cpus = base::parse_cpus(cpus);
        base::check_within(1, base::most_threads, plan.threads, "--threads");
    });
}

void place(const PlacementPlan& plan, char** argv)
{
    const std::string me = std::to_string(::getpid());
    const bool placed = base::environment(placed_variable) == me;
    ::unsetenv(placed_variable);
    if (placed) return;

    bool as_wanted = true;
    if (plan.transport_cpus) base::check_cpus(*plan.transport_cpus);
    if (plan.cpus) {
        base::check_cpus(*plan.cpus);
        const base::CpuSet share = base::share_of(base::physical_cores(*plan.cpus), base::local_rank());
        as_wanted = share == base::allowed_cpus();
        base::bind_this_thread(share);
    }
    const std::string count = std::to_string(plan.threads);
    for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
        as_wanted = as_wanted && base::environment(name) == count;
        ::setenv(name, count.c_str(), 1);
    }
    // Each of these variables would bind OpenMP's threads elsewhere.
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
        as_wanted = as_wanted && !base::environment(name);
        ::unsetenv(name);
    }
    if (as_wanted) return;

    ::setenv(placed_variable, me.c_str(), 1);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    ::execv(program.c_str(), argv);
    base::check_errno(-1, "execute ", program, " again, placed");
}

}  // namespace ddl
