// SPDX-License-Identifier: Apache-2.0
// The processes that write one archive together. The recorder needs no more of MPI than this.
#pragma once

#include "base/error.hpp"
#include "trace-tools/otf2/clock_offset.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct OTF2_Archive_struct;

namespace otf2 {

// All but rank(), size() and process_name() are collective: every process calls them in the same order.
class Team {
 public:
    virtual ~Team() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual std::string process_name() const = 0;                          // what this process is called in the archive
    virtual std::vector<std::string> gather(const std::string& mine) = 0;  // by rank on rank 0, empty elsewhere
    virtual std::string broadcast(const std::string& of_rank_0) = 0;       // what rank 0 gave, everywhere
    // This rank's of the parts that rank 0 gave; unless a team knows better, each is sent all of them.
    virtual std::string scatter(const std::vector<std::string>& parts_of_rank_0);
    virtual void barrier() = 0;
    virtual ClockOffset clock_offset(const std::string& clock_identity) = 0;  // offset 0 where the identity is rank 0's
};

// An exception of one rank is thrown on every rank: no rank waits for one that has given up.
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

// One process alone.
class SoloTeam : public Team {
 public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    std::string process_name() const override;  // the program's
    std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
    std::string broadcast(const std::string& of_rank_0) override { return of_rank_0; }
    void barrier() override {}
    ClockOffset clock_offset(const std::string& clock_identity) override;
};

// OTF2's collective callbacks on a team: how the processes of one archive agree about its files. The team must live
// until the archive is closed.
void use_team(OTF2_Archive_struct* archive, Team& team);

}  // namespace otf2
