// SPDX-License-Identifier: Apache-2.0
// Open MPI's algorithm for sums over ranks in nonblocking collectives.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace ddl {

// By default Open MPI adds in place over a binomial tree: of two ranks, one adds all numbers while the other waits. Its
// other algorithms let all ranks add simultaneously. If the number of ranks is a power of two, all of them add
// neighbours first, so that the sums have the same bits. This class selects them by Open MPI's control variable, unless
// the user has set it. For other numbers of ranks, and in other libraries, the library chooses.
class SumAlgorithm {
 public:
    SumAlgorithm();
    ~SumAlgorithm();
    SumAlgorithm(const SumAlgorithm&) = delete;
    SumAlgorithm& operator=(const SumAlgorithm&) = delete;

    // Sets the algorithm of the next MPI_Iallreduce of `numbers` values over `ranks` ranks. All these ranks must make
    // the same call.
    void choose_for(std::size_t numbers, int ranks);

 private:
    enum Algorithm : int { library_chooses = 0, rabenseifner = 3, recursive_doubling = 4 };

    MPI_T_cvar_handle variable_ = nullptr;  // null: the library or the user chooses the algorithm
    int chosen_ = library_chooses;
};

}  // namespace ddl
