// SPDX-License-Identifier: Apache-2.0
// The transport of MPI's messages, as far as the library reports it.
#pragma once

#include <string>

namespace noisegen {

// "ob1, btl vader (single copy cma)" for a job of `size` ranks, `here` of them on this node, this one included. Read
// through MPI's tools interface, after MPI_Init; for MPI libraries other than Open MPI it is "transport unknown".
std::string mpi_transport(int here, int size);

}  // namespace noisegen
