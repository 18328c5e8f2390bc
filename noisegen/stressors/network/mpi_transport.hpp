// SPDX-License-Identifier: Apache-2.0
// How MPI's messages travel, as far as the library reports it.
#pragma once

#include <string>

namespace noisegen {

// "ob1, btl vader (single copy cma)" for a job of `size` ranks, `here` of them on this node, this one included. Read
// through MPI's tools interface, after MPI_Init; known for Open MPI, "transport unknown" for others.
std::string mpi_transport(int here, int size);

}  // namespace noisegen
