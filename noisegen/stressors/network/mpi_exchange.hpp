// SPDX-License-Identifier: Apache-2.0
// Messages between the MPI ranks of a job in four patterns, in rounds that all ranks go through together.
#pragma once

#include "noisegen/stressors/stressor.hpp"

#include <memory>
#include <optional>
#include <string>

namespace noisegen {

// Was this built with MPI?
bool mpi_available();

// The summary of a stressor with MPI in it: says so if this was built without.
std::string mpi_summary(const std::string& summary);

// The patterns' `place.shared`; collective over the job, see share_rounds().
std::unique_ptr<Shared> share_mpi(const Place& place);

// The stressors below work with any number of ranks; one alone sends to itself. They count what a rank sends, by these
// formulas for n ranks; an operation is what is said. Null on a CPU without a partner on every other rank.

// A round: `window` messages to the next rank of a ring, as many from the one before. Bytes: window x bytes.
// Operation: a message.
std::unique_ptr<Stressor> make_mpi_exchange(const Place& place, std::size_t bytes, int window);

// A round: MPI_Ialltoall. Bytes: (n - 1) x bytes, for one rank bytes. Operation: a round.
std::unique_ptr<Stressor> make_mpi_alltoall(const Place& place, std::size_t bytes);

// A round: MPI_Iallreduce (sum of MPI_FLOAT) of the next `bucket` of the `bytes`, both multiples of four. Bytes:
// 2 (n - 1) / n x bucket, what a rank sends in the best algorithms (ring; Rabenseifner 2004), for one rank bucket: MPI
// may send more. Operation: all `bytes` once.
std::unique_ptr<Stressor> make_mpi_allreduce(const Place& place, std::size_t bytes, std::size_t bucket);

// A round: `window` messages from each rank to the root; none: rank 0, 1, ... in turn. Bytes: window x bytes on every
// rank, on the root too, which sends nothing: so a rate is that of a sender. Operation: a message. Throws UsageError
// for a root that is no rank.
std::unique_ptr<Stressor> make_mpi_incast(const Place& place, std::size_t bytes, int window, std::optional<int> root);

}  // namespace noisegen
