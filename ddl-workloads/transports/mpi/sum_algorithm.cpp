// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/mpi/sum_algorithm.hpp"

#include <bit>

namespace ddl {

SumAlgorithm::SumAlgorithm()
{
    int provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
    int index = 0;
    int count = 0;
    if (MPI_T_cvar_get_index("coll_libnbc_iallreduce_algorithm", &index) != MPI_SUCCESS) return;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &variable_, &count) != MPI_SUCCESS) {
        variable_ = nullptr;
        return;
    }
    if (count != 1 || MPI_T_cvar_read(variable_, &chosen_) != MPI_SUCCESS || chosen_ != library_chooses)
        MPI_T_cvar_handle_free(&variable_);  // sets variable_ to null
}

SumAlgorithm::~SumAlgorithm()
{
    if (variable_ != nullptr) MPI_T_cvar_handle_free(&variable_);
    MPI_T_finalize();
}

void SumAlgorithm::choose_for(std::size_t numbers, int ranks)
{
    // With fewer numbers per rank there is too little to divide among ranks, and one exchange is faster than two.
    constexpr std::size_t few = 1024;
    if (variable_ == nullptr) return;
    const int best = ranks < 2 || !std::has_single_bit(static_cast<unsigned>(ranks)) ? library_chooses
                     : numbers < few * static_cast<std::size_t>(ranks)               ? recursive_doubling
                                                                                     : rabenseifner;
    if (best != chosen_ && MPI_T_cvar_write(variable_, &best) == MPI_SUCCESS) chosen_ = best;
}

}  // namespace ddl
