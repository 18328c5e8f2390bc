// Ranks of one archive as threads of a test: what the recorder needs of MPI, without MPI.
#pragma once

#include "base/clock.hpp"
#include "trace-tools/otf2/write/team.hpp"

#include <barrier>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace analysis::testing {

struct ThreadJob {
    explicit ThreadJob(int ranks) : barrier{ranks}, words(static_cast<std::size_t>(ranks)) {}
    std::barrier<> barrier;
    std::vector<std::string> words;
};

class ThreadTeam : public otf2::Team {
 public:
    ThreadTeam(std::shared_ptr<ThreadJob> job, int rank) : job_{std::move(job)}, rank_{rank} {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(job_->words.size()); }
    std::string process_name() const override { return "MPI Rank " + std::to_string(rank_); }
    std::vector<std::string> gather(const std::string& mine) override
    {
        job_->words[static_cast<std::size_t>(rank_)] = mine;
        barrier();
        std::vector<std::string> all;
        if (rank_ == 0) all = job_->words;
        barrier();
        return all;
    }
    std::string broadcast(const std::string& of_rank_0) override
    {
        if (rank_ == 0) job_->words[0] = of_rank_0;
        barrier();
        const std::string word = job_->words[0];
        barrier();
        return word;
    }
    void barrier() override { job_->barrier.arrive_and_wait(); }
    otf2::ClockSample clock_sample(const std::string&) override { return {.at_ns = base::now_ns()}; }

 private:
    std::shared_ptr<ThreadJob> job_;
    int rank_;
};

// body(team of the rank), one thread a rank.
inline void run_ranks(int ranks, const std::function<void(std::unique_ptr<otf2::Team>)>& body)
{
    const auto job = std::make_shared<ThreadJob>(ranks);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] { body(std::make_unique<ThreadTeam>(job, rank)); });
}

}  // namespace analysis::testing
