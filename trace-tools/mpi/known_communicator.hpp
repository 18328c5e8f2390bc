// What communicators are called across ranks: MPI's handles are each process's own.
#pragma once

#include "trace-tools/otf2/recorder.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace otf2 {

struct KnownCommunicator {
    CommunicatorKey key;
    std::vector<int> members;  // ranks in MPI_COMM_WORLD
    std::string name;
};

// Null for one that identify() never saw. MPI_COMM_WORLD and MPI_COMM_SELF are always known.
const KnownCommunicator* known(MPI_Comm communicator);

// Collective over the new communicator, in the call that made it: its first rank numbers it. Nothing is done for
// MPI_COMM_NULL and for intercommunicators.
void identify(MPI_Comm communicator);

}  // namespace otf2
