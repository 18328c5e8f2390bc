#include "jobscripts/run/mpi.hpp"

#include <cstdlib>

#include <unistd.h>

namespace crosstalk {

void prepare_for_mpi()
{
    const auto set = [](const char* name, const char* value) { ::setenv(name, value, 0); };
    if (::geteuid() == 0) {
        set("OMPI_ALLOW_RUN_AS_ROOT", "1");
        set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    set("OMPI_MCA_hwloc_base_binding_policy", "none");
    set("OMPI_MCA_rmaps_base_oversubscribe", "1");
    set("OMPI_MCA_mpi_yield_when_idle", "1");  // the job has fewer CPUs than MPI counts: who waits must let others work
    set("OMPI_MCA_odls_base_sigkill_timeout", "2");
}

}  // namespace crosstalk
