// SPDX-License-Identifier: Apache-2.0
// Identifies communicators across ranks: MPI's handles are local to a process.
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
    std::string name;          // default, unless the program sets one
    bool named = false;        // by this process
};

// Returns null if the communicator is not known. MPI_COMM_WORLD and MPI_COMM_SELF are always known.
const KnownCommunicator* known(MPI_Comm communicator);

// Identifies a new communicator; collective over it, within the MPI call that made it. Its rank 0 assigns the number.
// The number of a freed, unnamed communicator is reused by the next one with the same members, so that an archive has
// only as many definitions as there were communicators at one time; if that one is named, the name applies to both.
// Does nothing for MPI_COMM_NULL, intercommunicators, and communicators with processes outside of MPI_COMM_WORLD.
void identify(MPI_Comm communicator);

// Notes that the program has named the communicator.
void set_named(MPI_Comm communicator);

// Returns the identity of the duplicate that the next MPI_Comm_idup makes; null if the communicator is not known. All
// ranks call this in the same order, so they agree on it without communication.
std::shared_ptr<const KnownCommunicator> next_duplicate(MPI_Comm communicator);
void identify(MPI_Comm duplicate, const KnownCommunicator& as);

}  // namespace otf2
