// SPDX-License-Identifier: Apache-2.0
// Which regions are calls of MPI. Writers disagree: TAU gives each region with "mpi" in its name the paradigm MPI,
// EZTrace gives MPI's calls the paradigm user, and both leave roles out. So paradigm, role and name decide together.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <string>

namespace otf2 {

// The call's name as the standard writes it: "MPI_Send" of TAU's "MPI_Send()", of "PMPI_Send" and of Fortran's
// "mpi_send_". Empty: no call of MPI. A region of paradigm MPI with a role in communication keeps its own name.
std::string mpi_call_name(const Region& region);

inline bool is_mpi_call(const Region& region)
{
    return !mpi_call_name(region).empty();
}

}  // namespace otf2
