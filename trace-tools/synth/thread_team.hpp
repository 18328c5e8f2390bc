// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process and write one archive together.
#pragma once

#include "trace-tools/otf2/write/team.hpp"

#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace synth {

// State that the ranks share.
struct ThreadMeeting {
    explicit ThreadMeeting(int ranks) : texts(static_cast<std::size_t>(ranks)), all{ranks} {}
    std::vector<std::string> texts;
    std::string text;
    std::barrier<> all;
    std::atomic<bool> given_up{false};  // a rank has failed, so the others must not use its output
};

class ThreadTeam : public otf2::Team {
 public:
    // `meeting` must outlive it. `clock` returns the offset of this rank's clock at its current time.
    ThreadTeam(int rank, ThreadMeeting& meeting, std::function<otf2::ClockOffset()> clock)
        : rank_{rank}, meeting_{meeting}, clock_{std::move(clock)}
    {
    }

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(meeting_.texts.size()); }
    std::string process_name() const override { return "MPI Rank " + std::to_string(rank_); }
    std::vector<std::string> gather(const std::string& mine) override;
    std::string broadcast(const std::string& of_rank_0) override;
    std::string scatter(const std::vector<std::string>& parts_of_rank_0) override;
    void barrier() override;
    otf2::ClockOffset clock_offset(const std::string&) override { return clock_(); }

 private:
    int rank_;
    ThreadMeeting& meeting_;
    std::function<otf2::ClockOffset()> clock_;
};

// Calls `call` for each rank, on concurrent threads. Throws the exception of the rank that failed first; other ranks
// throw at their next collective. Throws Error, without any call, if not all threads can be started.
void on_each_rank(ThreadMeeting& meeting, const std::function<void(int)>& call);

}  // namespace synth
