// SPDX-License-Identifier: Apache-2.0
// Rounds of messages between the MPI ranks of a job. Each noise CPU has rounds of its own, which complete at the end of
// a turn.
#pragma once

#if CROSSTALK_HAS_MPI

#define OMPI_SKIP_MPICXX
#include "noisegen/stressors/stressor.hpp"

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace noisegen {

// Throws Error: "MPI cannot send: ...".
void check_mpi(int code, const char* what);

// The communication of a round on one rank, and its buffers.
class Pattern {
 public:
    virtual ~Pattern() = default;

    // Begins round 0, 1, ...; the number is the same on all ranks. Adds the requests to wait for to `requests`, and
    // returns immediately.
    virtual void begin(long round, MPI_Comm communicator, std::vector<MPI_Request>& requests) = 0;

    // Work of this rank in the round.
    virtual Work work(long round) const = 0;

    // Description: "ring of 3 ranks, 4 messages of 1048576 bytes a round".
    virtual std::string text() const = 0;
};

// Makes the pattern of this rank. Called in the thread that uses it, so that its memory is near.
using MakePattern = std::function<std::unique_ptr<Pattern>(int rank, int size)>;

// Initialises MPI if needed (collective over the job; call it in the main thread). MPI is finalised at the end of the
// process, unless rounds could not be completed, the run failed, or the launcher is gone: then the process ends without
// MPI_Finalize, and mpirun ends the other ranks. Throws Unavailable if this MPI library cannot be used from other
// threads than the main thread.
std::unique_ptr<Shared> share_rounds(const Place& place);

// Each step continues the rounds. When a turn ends, all ranks complete the last round that any of them has begun;
// rounds that complete after the turn's last step count for the next turn. Ranks may have different numbers of CPUs; a
// CPU without a partner gets null and does nothing.
std::unique_ptr<Stressor> make_rounds(const Place& place, const MakePattern& make);

}  // namespace noisegen

#endif
