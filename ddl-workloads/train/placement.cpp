#include "ddl-workloads/train/placement.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/local_rank.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace ddl {

namespace {

constexpr const char* placed_variable = "CROSSTALK_PLACED";  // holds the process id of the one that is placed

}  // namespace

void place(const std::optional<base::CpuSet>& cpus, const std::optional<base::CpuSet>& transport_cpus, int threads,
           char** argv)
{
    const std::string me = std::to_string(::getpid());
    const bool placed = base::environment(placed_variable) == me;
    ::unsetenv(placed_variable);
    if (placed) return;

    bool as_wanted = true;
    if (transport_cpus) base::check_cpus(*transport_cpus);
    if (cpus) {
        base::check_cpus(*cpus);
        const base::CpuSet share = base::share_of(base::physical_cores(*cpus), base::local_rank());
        as_wanted = share == base::allowed_cpus();
        base::bind_this_thread(share);
    }
    const std::string count = std::to_string(threads);
    for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
        as_wanted = as_wanted && base::environment(name) == count;
        ::setenv(name, count.c_str(), 1);
    }
    // Each of these would bind OpenMP's threads elsewhere.
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
