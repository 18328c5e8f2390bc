// SPDX-License-Identifier: Apache-2.0
// How Open MPI adds over ranks in nonblocking collectives.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace ddl {

// Open MPI adds in place over a binomial tree: one of two ranks adds all numbers, while the other one waits for them.
// Its other algorithms let all ranks add at once; of a power of two ranks neighbours come first in all of them, so that
// the sums have the same bits. They are chosen by the library's own variable, unless the user has chosen; of another
// number of ranks and in other libraries the choice stays the library's.
class SumAlgorithm {
 public:
    SumAlgorithm();
    ~SumAlgorithm();
    SumAlgorithm(const SumAlgorithm&) = delete;
    SumAlgorithm& operator=(const SumAlgorithm&) = delete;

    // Algorithm of the next MPI_Iallreduce of this number of values over this number of ranks; the same on all of them.
    void choose_for(std::size_t numbers, int ranks);

 private:
    enum Algorithm : int { library_chooses = 0, rabenseifner = 3, recursive_doubling = 4 };

    MPI_T_cvar_handle variable_ = nullptr;  // null: the choice is not ours
    int chosen_ = library_chooses;
};

}  // namespace ddl
