// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/clock_comparison.hpp"

#include "base/system/clock.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace otf2 {

namespace {

constexpr int least_ping_pongs = 100;
constexpr std::int64_t close_ns = 30'000;          // error far below any training step
constexpr std::int64_t very_close_ns = 2'000;      // error so small that further ping-pongs are not worthwhile
constexpr std::int64_t of_one_ns = 1'000'000'000;  // limit for one node; a busy node rarely answers quickly
constexpr std::int64_t of_all_ns = 5'000'000'000;
constexpr std::byte asks{1};
constexpr std::byte that_was_all{0};

// Decides when further ping-pongs no longer narrow the bounds.
class Enough {
 public:
    explicit Enough(std::int64_t until_ns) : until_ns_{until_ns} {}

    // Takes the error bound after one more ping-pong; true: stop.
    bool after(std::int64_t error_ns)
    {
        ++count_;
        if (error_ns < improved_to_ns_ - improved_to_ns_ / 10) {
            improved_to_ns_ = error_ns;
            improved_at_ = count_;
        }
        if (count_ < least_ping_pongs) return false;
        if (error_ns <= very_close_ns || base::now_ns() >= until_ns_) return true;
        return error_ns <= close_ns && count_ >= 2 * improved_at_;
    }

 private:
    std::int64_t until_ns_;
    int count_ = 0;
    int improved_at_ = 0;  // number of the ping-pong that last improved the bound by a tenth
    std::int64_t improved_to_ns_ = INT64_MAX;
};

// Runs on rank 0: answers each message with the current time.
void answer(int rank, const Send& send, const Receive& receive)
{
    while (true) {
        std::byte question{};
        receive(rank, {&question, 1});
        if (question == that_was_all) return;
        const std::int64_t now_ns = base::now_ns();
        send(rank, std::as_bytes(std::span{&now_ns, 1}));
    }
}

ClockOffset ask(std::int64_t for_ns, const Send& send, const Receive& receive)
{
    OffsetBounds bounds;
    Enough enough{base::now_ns() + for_ns};
    do {
        std::int64_t theirs_ns = 0;
        const std::int64_t sent_ns = base::now_ns();
        send(0, {&asks, 1});
        receive(0, std::as_writable_bytes(std::span{&theirs_ns, 1}));
        bounds.add(sent_ns, theirs_ns, base::now_ns());
    } while (!enough.after(bounds.best().error_ns));
    send(0, {&that_was_all, 1});
    return bounds.best();
}

// For each rank, the first rank that reads the same clock.
std::vector<int> first_with_the_clock(Team& team, const std::string& clock_identity)
{
    std::string text;
    std::map<std::string, int> first_with;
    int rank = 0;
    for (const std::string& identity : team.gather(clock_identity))
        text += std::to_string(first_with.try_emplace(identity, rank++).first->second) + " ";
    std::istringstream words{team.broadcast(text)};
    std::vector<int> firsts;
    for (int first = 0; words >> first;) firsts.push_back(first);
    return firsts;
}

// Distributes the offset found by the first rank with a clock to all ranks with that clock.
ClockOffset shared(Team& team, const std::vector<int>& firsts, const ClockOffset& own)
{
    std::ostringstream text;
    text << own.at_ns << " " << own.offset_ns << " " << own.error_ns;
    const std::vector<std::string> found = team.gather(text.str());
    std::vector<std::string> parts;
    if (team.rank() == 0)
        for (const int first : firsts) parts.push_back(found.at(static_cast<std::size_t>(first)));
    std::istringstream words{team.scatter(parts)};
    ClockOffset offset;
    words >> offset.at_ns >> offset.offset_ns >> offset.error_ns;
    return offset;
}

}  // namespace

void OffsetBounds::add(std::int64_t sent_ns, std::int64_t theirs_ns, std::int64_t received_ns)
{
    const std::int64_t middle_ns = sent_ns + (received_ns - sent_ns) / 2;
    const Bound least{theirs_ns - received_ns, middle_ns};
    const Bound most{theirs_ns - sent_ns, middle_ns};
    const ClockOffset alone = between(least, most);
    if (!any_ || alone.error_ns < quickest_.error_ns) quickest_ = alone;
    if (!any_ || least.offset_ns > least_.offset_ns) least_ = least;
    if (!any_ || most.offset_ns < most_.offset_ns) most_ = most;
    any_ = true;
}

ClockOffset OffsetBounds::between(const Bound& least, const Bound& most)
{
    const std::int64_t width_ns = most.offset_ns - least.offset_ns;
    return {.at_ns = least.at_ns + (most.at_ns - least.at_ns) / 2,
            .offset_ns = least.offset_ns + width_ns / 2,
            .error_ns = (width_ns + 1) / 2};
}

ClockOffset OffsetBounds::best() const
{
    return most_.offset_ns < least_.offset_ns ? quickest_ : between(least_, most_);
}

ClockOffset compare_clocks(Team& team, const std::string& clock_identity, const Send& send, const Receive& receive)
{
    const std::vector<int> firsts = first_with_the_clock(team, clock_identity);
    const std::set<int> asking{firsts.begin(), firsts.end()};
    ClockOffset own{.at_ns = base::now_ns(), .offset_ns = 0, .error_ns = 0};
    if (asking.size() <= 1) return own;
    const std::int64_t for_ns = std::min(of_one_ns, of_all_ns / static_cast<std::int64_t>(asking.size() - 1));
    for (const int rank : asking) {
        if (rank == 0) continue;
        if (team.rank() == 0) answer(rank, send, receive);
        if (team.rank() == rank) own = ask(for_ns, send, receive);
    }
    return shared(team, firsts, own);
}

}  // namespace otf2
