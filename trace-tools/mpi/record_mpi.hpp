// SPDX-License-Identifier: Apache-2.0
// MPI calls recorded through MPI's profiling interface: a program linked with trace-mpi calls our MPI_Allreduce, which
// calls PMPI_Allreduce and records both ends on the location that the calling thread named. No location: nothing is
// recorded.
//
// Recorded are point-to-point messages of all modes, persistent requests and probes, waits and tests, collectives, and
// the calls that make and free communicators. Non-blocking collectives are written as OTF2 3.0 knows them (request
// where started, complete where waited for). One-sided communication, files, and the calls that only ask for something
// are not recorded: to the trace their time is computation.
//
// Tests and probes that find nothing have no events of their own, which would fill the disk. Those that follow each
// other are one polling: the test, probe or wait that ends it begins in the trace where the polling began, so that the
// wait is seen. polling.hpp says what goes between two of them. A polling that leads to none of these calls (the
// program does something else, records anything on the location, or gives up) is not recorded.
//
// For a call that fails, or an operation that fails while it is waited for, only the time is recorded.
//
// Bytes of a collective are those of this rank's own buffers: what it puts in is sent, what it gets out is received.
//
// The recorder's team must be that of MPI_COMM_WORLD. Communicators of its processes are known, whichever call makes
// them, topologies included. Only the time is recorded of calls on intercommunicators, on communicators with processes
// from elsewhere, and of collectives among neighbours.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

namespace otf2 {

// From here on this thread's MPI calls are events of that location, and the location stands for the rank in
// communicators.
void record_mpi_here(LocationRecorder& location);

// The same for every thread: the calling one is the first of the locations, others get one when they first call MPI.
class ThreadLocations;
void record_mpi_everywhere(ThreadLocations& locations);

// From here on the MPI calls of this thread, or of every thread, are not recorded. To be called before
// Recorder::finish().
void record_mpi_no_more();

}  // namespace otf2
