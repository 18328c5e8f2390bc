// SPDX-License-Identifier: Apache-2.0
// Recognises regions that are MPI calls. Writers disagree: TAU gives every region with "mpi" in its name the paradigm
// MPI, EZTrace gives MPI calls the paradigm user, and neither sets roles. So paradigm, role and name are combined.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <string>

namespace otf2 {

// The call's name as in the standard: "MPI_Send" for TAU's "MPI_Send()", for "PMPI_Send" and for Fortran's "mpi_send_".
// Empty if the region is not an MPI call. A region of paradigm MPI with a communication role keeps its own name.
std::string mpi_call_name(const Region& region);

inline bool is_mpi_call(const Region& region)
{
    return !mpi_call_name(region).empty();
}

}  // namespace otf2
