#include "trace-tools/synth/thread_team.hpp"

#include <exception>
#include <mutex>
#include <thread>

namespace otf2 {

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

void on_each_rank(ThreadMeeting& meeting, const std::function<void(int)>& call)
{
    std::mutex mutex;
    std::exception_ptr first;
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < meeting.texts.size(); ++rank)
        threads.emplace_back([&, rank] {
            try {
                call(static_cast<int>(rank));
            } catch (...) {
                const std::lock_guard lock{mutex};
                if (!first) first = std::current_exception();
                meeting.all.arrive_and_drop();
            }
        });
    threads.clear();
    if (first) std::rethrow_exception(first);
}

}  // namespace otf2
