// SPDX-License-Identifier: Apache-2.0
// Rounds of messages between the MPI ranks of a job, separate on each noise CPU, completed at the end of a turn.
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

// A round's communication of the ranks, and its memory.
class Pattern {
 public:
    virtual ~Pattern() = default;

    // Begins round 0, 1, ...: the number is the same on all ranks. Adds what must be waited for to `requests`. Returns
    // at once.
    virtual void begin(long round, MPI_Comm communicator, std::vector<MPI_Request>& requests) = 0;

    // Work of the round on this rank.
    virtual Work work(long round) const = 0;

    // "ring of 3 ranks, 4 messages of 1048576 bytes a round"
    virtual std::string text() const = 0;
};

// Makes the pattern of this rank in the thread that uses it, so that its memory is near.
using MakePattern = std::function<std::unique_ptr<Pattern>(int rank, int size)>;

// Initialises MPI if it is not yet (collective over the job; call it in the main thread). MPI is finalised at the
// process's end, unless rounds could not be brought to rest, the run failed or the launcher is gone: then the process
// ends without, and mpirun ends the others. Throws Unavailable if this MPI cannot be used from a thread that is not
// main.
std::unique_ptr<Shared> share_rounds(const Place& place);

// Each step continues the rounds. When a turn ends, all ranks complete the last round that any of them has begun; what
// is complete after the turn's last step counts with the next turn. Ranks may have different numbers of CPUs: null for
// those without a partner, which do nothing.
std::unique_ptr<Stressor> make_rounds(const Place& place, const MakePattern& make);

}  // namespace noisegen

#endif
