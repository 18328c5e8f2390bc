// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/synth/thread_team.hpp"

#include "base/error.hpp"

#include <exception>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>

namespace synth {

void ThreadTeam::barrier()
{
    meeting_.all.arrive_and_wait();
    if (meeting_.given_up.load()) base::fail("another rank failed");
}

std::vector<std::string> ThreadTeam::gather(const std::string& mine)
{
    meeting_.texts[static_cast<std::size_t>(rank_)] = mine;
    barrier();
    std::vector<std::string> all;
    if (rank_ == 0) all = meeting_.texts;
    barrier();
    return all;
}

std::string ThreadTeam::broadcast(const std::string& of_rank_0)
{
    if (rank_ == 0) meeting_.text = of_rank_0;
    barrier();
    std::string text = meeting_.text;
    barrier();
    return text;
}

std::string ThreadTeam::scatter(const std::vector<std::string>& parts_of_rank_0)
{
    if (rank_ == 0) meeting_.texts = parts_of_rank_0;
    barrier();
    std::string mine = meeting_.texts.at(static_cast<std::size_t>(rank_));
    barrier();
    return mine;
}

void on_each_rank(ThreadMeeting& meeting, const std::function<void(int)>& call)
{
    std::mutex mutex;
    std::exception_ptr first;
    std::promise<bool> all_are_there;
    const std::shared_future<bool> begin = all_are_there.get_future().share();
    const auto take_part = [&](std::size_t rank) {
        if (!begin.get()) return;
        try {
            call(static_cast<int>(rank));
        } catch (...) {
            const std::lock_guard lock{mutex};
            if (!first) first = std::current_exception();
            meeting.given_up.store(true);
            meeting.all.arrive_and_drop();
        }
    };
    const std::size_t ranks = meeting.texts.size();
    std::vector<std::jthread> threads;
    threads.reserve(ranks);
    try {
        while (threads.size() < ranks) threads.emplace_back(take_part, threads.size());
    } catch (const std::system_error& error) {
        const std::size_t started = threads.size();
        all_are_there.set_value(false);
        threads.clear();
        base::fail("cannot start a thread for each of ", ranks, " ranks, only for ", started, ": ",
                   error.code().message());
    } catch (...) {
        all_are_there.set_value(false);
        threads.clear();
        throw;
    }
    all_are_there.set_value(true);
    threads.clear();
    if (first) std::rethrow_exception(first);
}

}  // namespace synth
