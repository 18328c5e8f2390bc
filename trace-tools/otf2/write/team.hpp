// SPDX-License-Identifier: Apache-2.0
// The processes that together write one archive. The recorder uses MPI only through this interface.
#pragma once

#include "base/error.hpp"
#include "trace-tools/otf2/clock_offset.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct OTF2_Archive_struct;

namespace otf2 {

// All functions except rank(), size() and process_name() are collective: all processes call them in the same order.
class Team {
 public:
    virtual ~Team() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual std::string process_name() const = 0;                          // this process's name in the archive
    virtual std::vector<std::string> gather(const std::string& mine) = 0;  // by rank on rank 0, empty on other ranks
    virtual std::string broadcast(const std::string& of_rank_0) = 0;       // rank 0's text, on all ranks
    // This rank's part of those that rank 0 passes. The default implementation sends all parts to every rank.
    virtual std::string scatter(const std::vector<std::string>& parts_of_rank_0);
    virtual void barrier() = 0;
    virtual ClockOffset clock_offset(const std::string& clock_identity) = 0;  // 0 for a clock equal to rank 0's
};

// Runs `work` on every rank. If it throws on one rank, it throws on all, so that no rank waits for a failed one.
template <class Work>
void together(Team& team, const Work& work)
{
    std::string failure;
    try {
        work();
    } catch (const std::exception& error) {
        failure = error.what();
    }
    std::string first;
    for (const std::string& one : team.gather(failure))
        if (first.empty()) first = one;
    first = team.broadcast(first);
    if (!first.empty()) throw base::Error{first};
}

// A team of one process.
class SoloTeam : public Team {
 public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    std::string process_name() const override;  // the program's name
    std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
    std::string broadcast(const std::string& of_rank_0) override { return of_rank_0; }
    void barrier() override {}
    ClockOffset clock_offset(const std::string& clock_identity) override;
};

// Implements OTF2's collective callbacks with a team, so that the processes of one archive agree on its files. The team
// must live until the archive is closed.
void use_team(OTF2_Archive_struct* archive, Team& team);

}  // namespace otf2
