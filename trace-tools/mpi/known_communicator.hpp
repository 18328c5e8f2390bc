// SPDX-License-Identifier: Apache-2.0
// Names of communicators across ranks: MPI's handles are each process's own.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace otf2 {

struct KnownCommunicator {
    CommunicatorKey key;
    std::vector<int> members;  // ranks in MPI_COMM_WORLD
    std::string name;          // where the program gives it none
    bool named = false;        // by this process
};

// Null for one that is not known. MPI_COMM_WORLD and MPI_COMM_SELF are always known.
const KnownCommunicator* known(MPI_Comm communicator);

// Collective over the new communicator, in the call that made it: its first rank numbers it. The number of a freed one
// that had no name serves the next of the same members, so that an archive has as many definitions as there were
// communicators at a time; if that one is given a name, both are called so. Nothing is done for MPI_COMM_NULL, for
// intercommunicators and with processes outside of MPI_COMM_WORLD.
void identify(MPI_Comm communicator);

// The program has given it a name.
void set_named(MPI_Comm communicator);

// The duplicate that the next MPI_Comm_idup of a communicator makes: called in the same order on all its ranks, which
// number it without communication. Null if the communicator is not known.
std::shared_ptr<const KnownCommunicator> next_duplicate(MPI_Comm communicator);
void identify(MPI_Comm duplicate, const KnownCommunicator& as);

}  // namespace otf2
