// SPDX-License-Identifier: Apache-2.0
// Messages between the MPI ranks of a job in four patterns. All ranks go through the rounds together.
#pragma once

#include "noisegen/stressors/stressor.hpp"

#include <memory>
#include <optional>
#include <string>

namespace noisegen {

// Was this built with MPI?
bool mpi_available();

// The summary of a stressor that needs MPI, with a remark if noisegen was built without MPI.
std::string mpi_summary(const std::string& summary);

// Makes the state that the stressors below share (Place::shared); collective over the job, see share_rounds().
std::unique_ptr<Shared> share_mpi(const Place& place);

// The stressors below work with any number of ranks; a single rank sends to itself. They count the bytes that a rank
// sends, by the formulas given for n ranks, and the operations named there. Null on a CPU without a partner on every
// other rank.

// Each round sends `window` messages to the next rank of a ring, and receives as many from the previous one. Bytes:
// window x bytes. Operation: a message.
std::unique_ptr<Stressor> make_mpi_exchange(const Place& place, std::size_t bytes, int window);

// Each round is an MPI_Ialltoall. Bytes: (n - 1) x bytes; for one rank, bytes. Operation: a round.
std::unique_ptr<Stressor> make_mpi_alltoall(const Place& place, std::size_t bytes);

// Each round is an MPI_Iallreduce (sum of MPI_FLOAT) of the next `bucket` of `bytes`; both must be multiples of four.
// Bytes: 2 (n - 1) / n x bucket, what a rank sends in the best algorithms (ring; Rabenseifner 2004); for one rank,
// bucket. MPI may send more. Operation: all `bytes` once.
std::unique_ptr<Stressor> make_mpi_allreduce(const Place& place, std::size_t bytes, std::size_t bucket);

// Each round sends `window` messages from each rank to the root; without `root`, to rank 0, 1, ... in turn. Bytes:
// window x bytes on every rank, including the root, which sends nothing, so that the rate is that of a sender.
// Operation: a message. Throws UsageError if the root is not a rank.
std::unique_ptr<Stressor> make_mpi_incast(const Place& place, std::size_t bytes, int window, std::optional<int> root);

}  // namespace noisegen
