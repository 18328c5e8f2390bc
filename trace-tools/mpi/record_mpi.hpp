// MPI calls recorded through MPI's profiling interface: a program linked with trace-mpi calls our MPI_Allreduce, which
// calls PMPI_Allreduce and records both ends on the location that the calling thread named. No location: nothing is
// recorded.
//
// Recorded are the calls of a training job: blocking and non-blocking collectives, point-to-point messages, waits and
// tests. Non-blocking collectives are written as OTF2 3.0 knows them (request where started, complete where waited
// for). A test that finds nothing records nothing: polling would fill the disk. MPI_Init and MPI_Finalize lie outside
// of every recorder's life.
//
// Bytes of a collective are those of this rank's own buffers: what it puts in is sent, what it gets out is received.
//
// The recorder's team must be that of MPI_COMM_WORLD. Communicators made by MPI_Comm_dup, _split, _split_type and
// _create are known; in others (intercommunicators, topologies) only the time of a call is recorded.
#pragma once

#include "trace-tools/otf2/recorder.hpp"

namespace otf2 {

// From here on this thread's MPI calls are events of that location, and the location stands for the rank in
// communicators.
void record_mpi_here(LocationRecorder& location);

// From here on this thread's MPI calls are not recorded. To be called before Recorder::finish().
void record_mpi_no_more();

}  // namespace otf2
