// SPDX-License-Identifier: Apache-2.0
// Records MPI calls through MPI's profiling interface: a program linked with trace-mpi calls our MPI_Allreduce, which
// calls PMPI_Allreduce and records begin and end on the calling thread's location. Threads without a location are not
// recorded.
//
// Recorded are point-to-point messages of all modes, persistent requests and probes, waits and tests, collectives, and
// the calls that make and free communicators. Non-blocking collectives are written as in OTF2 3.0 (a request at the
// start, a completion at the wait). One-sided communication, MPI-IO, and calls that only query something are not
// recorded: their time counts as computation.
//
// Unsuccessful tests and probes have no events of their own, which would fill the disk. A sequence of them is one
// polling: the test, probe or wait that ends it begins in the trace where the polling began, so that the trace shows
// the wait. polling.hpp says what may happen between two of them. A polling that leads to none of these calls (the
// program does something else, records anything on the location, or gives up) is not recorded.
//
// If a call fails, or an operation fails while it is waited for, only the time is recorded.
//
// Bytes of a collective are those of this rank's own buffers: sent is what it contributes, received is what it obtains.
//
// The recorder's team must be that of MPI_COMM_WORLD. Communicators of its processes are known, whichever call makes
// them, topologies included. Only the time is recorded for calls on intercommunicators, for calls on communicators with
// processes outside of MPI_COMM_WORLD, and for neighbourhood collectives.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

namespace otf2 {

// Records this thread's MPI calls on that location from now on. The location represents the rank in communicators.
void record_mpi_here(LocationRecorder& location);

// Same for every thread: the calling one uses the first location, others get one at their first MPI call.
class ThreadLocations;
void record_mpi_everywhere(ThreadLocations& locations);

// Ends what record_mpi_here() or record_mpi_everywhere() began. Call before Recorder::finish().
void record_mpi_no_more();

}  // namespace otf2
