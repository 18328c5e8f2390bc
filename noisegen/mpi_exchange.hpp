// Messages around a ring of MPI ranks, a ring of its own for each noise CPU.
#pragma once

#include "noisegen/stressor.hpp"

#include <memory>

namespace noisegen {

// Was this built with MPI?
bool mpi_available();

// Initialises MPI if nobody has yet (collective over the job; call it in the main thread). MPI is finalised with the
// last of them, unless a ring could not be brought to rest: then the process ends without, and mpirun ends the others.
// Throws Unavailable if this MPI cannot be used from a thread that is not main.
std::unique_ptr<Shared> share_mpi(const Place& place);

// Each step goes on with a round: `window` messages of so many bytes to the next rank, as many from the one before.
// `place.shared` is share_mpi()'s. Ranks may have different numbers of CPUs; those without a partner do nothing.
std::unique_ptr<Stressor> make_mpi_exchange(const Place& place, std::size_t bytes, int window);

}  // namespace noisegen
