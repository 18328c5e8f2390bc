// SPDX-License-Identifier: Apache-2.0
// The processes of an MPI communicator as a team that writes one archive.
#pragma once

#include "trace-tools/otf2/write/team.hpp"

#include <mpi.h>

namespace otf2 {

class MpiTeam : public Team {
 public:
    // Collective; call between MPI_Init and MPI_Finalize. Uses a duplicate of the communicator, so it never interferes
    // with the program's messages, and is never recorded. Must be destroyed before MPI_Finalize.
    explicit MpiTeam(MPI_Comm communicator);
    ~MpiTeam() override;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::string process_name() const override { return "MPI Rank " + std::to_string(rank_); }
    std::vector<std::string> gather(const std::string& mine) override;
    std::string broadcast(const std::string& of_rank_0) override;
    void barrier() override;

    ClockOffset clock_offset(const std::string& clock_identity) override;

 private:
    MPI_Comm communicator_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace otf2
