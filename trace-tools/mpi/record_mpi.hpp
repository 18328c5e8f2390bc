// MPI calls recorded through MPI's profiling interface: a program linked with trace-mpi calls our MPI_Allreduce, which
// calls PMPI_Allreduce and records both ends, on the location that the calling thread named. No location: nothing is
// done.
//
// Non-blocking collectives are recorded as OTF2 3.0 knows them (request where started, complete where waited for). An
// MPI_Test that finds nothing records nothing: polling would fill the disk.
#pragma once

#include "trace-tools/otf2/recorder.hpp"

namespace otf2 {

// From here on this thread's MPI calls are events of that location, and the location stands for the rank in
// communicators.
void record_mpi_here(LocationRecorder& location);

// From here on this thread's MPI calls are not recorded. To be called before Recorder::finish().
void record_mpi_no_more();

}  // namespace otf2
