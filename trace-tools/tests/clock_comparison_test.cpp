// SPDX-License-Identifier: Apache-2.0
// Clock comparison by ping-pongs: bounds calculated by hand, and ranks that actually read the same clock.
#include "trace-tools/otf2/write/clock_comparison.hpp"

#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;

// Messages from one rank to another.
class Letters {
 public:
    void put(std::span<const std::byte> message)
    {
        const std::lock_guard lock{mutex_};
        letters_.emplace_back(message.begin(), message.end());
        came_.notify_one();
    }
    void take(std::span<std::byte> message)
    {
        std::unique_lock lock{mutex_};
        came_.wait(lock, [this] { return !letters_.empty(); });
        std::copy(letters_.front().begin(), letters_.front().end(), message.begin());
        letters_.pop_front();
    }

 private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::deque<std::vector<std::byte>> letters_;
};

}  // namespace

TEST_CASE("the offset lies between the bounds of all ping-pongs")
{
    otf2::OffsetBounds bounds;
    bounds.add(0, 1010, 100);  // bounds of the offset: 910 to 1010
    CHECK(bounds.best().offset_ns == 960);
    CHECK(bounds.best().error_ns == 50);
    CHECK(bounds.best().at_ns == 50);
    bounds.add(200, 1290, 300);  // 990 to 1090
    CHECK(bounds.best().offset_ns == 1000);
    CHECK(bounds.best().error_ns == 10);
    CHECK(bounds.best().at_ns == 150);
    bounds.add(400, 2000, 1400);  // 600 to 1600 does not tighten the bounds
    CHECK(bounds.best().offset_ns == 1000);
}

TEST_CASE("clocks that drift away from each other are compared by the quickest ping-pong")
{
    otf2::OffsetBounds bounds;
    bounds.add(0, 1000, 10);                // 990 to 1000
    bounds.add(100'000, 101'500, 100'008);  // 1492 to 1500
    CHECK(bounds.best().offset_ns == 1496);
    CHECK(bounds.best().error_ns == 4);
    CHECK(bounds.best().at_ns == 100'004);
}

TEST_CASE("slow ways are seen through, and a node's ranks agree on its clock")
{
    constexpr int ranks = 3;
    std::array<std::array<Letters, ranks>, ranks> post;
    synth::ThreadMeeting meeting{ranks};
    std::array<otf2::ClockOffset, ranks> found;
    std::atomic<int> ping_pongs{0};
    synth::on_each_rank(meeting, [&](int rank) {
        synth::ThreadTeam team{rank, meeting, {}};
        int sent = 0;
        // The outbound and the return message are slow in turn (2 ms), so each ping-pong alone is uncertain by 1 ms.
        const auto send = [&](int to, std::span<const std::byte> message) {
            if ((++sent % 2 == 0) == (rank == 0)) std::this_thread::sleep_for(2ms);
            if (rank != 0) ++ping_pongs;
            post[static_cast<std::size_t>(rank)][static_cast<std::size_t>(to)].put(message);
        };
        const auto receive = [&](int from, std::span<std::byte> message) {
            post[static_cast<std::size_t>(from)][static_cast<std::size_t>(rank)].take(message);
        };
        found[static_cast<std::size_t>(rank)] =
            otf2::compare_clocks(team, rank == 0 ? "one node" : "another node", send, receive);
    });
    CHECK(ping_pongs > 100);
    CHECK(found[0].offset_ns == 0);
    CHECK(found[0].error_ns == 0);
    // All ranks read the same clock: the true offset is 0.
    CHECK(std::abs(found[1].offset_ns) <= found[1].error_ns);
    CHECK(found[1].error_ns < 1'000'000);
    CHECK(found[2].offset_ns == found[1].offset_ns);
    CHECK(found[2].at_ns == found[1].at_ns);
}
