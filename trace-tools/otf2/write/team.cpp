#include "trace-tools/otf2/write/team.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <cstring>
#include <filesystem>
#include <numeric>

namespace otf2 {

namespace {

constexpr int ping_pongs = 100;

// Rank 0's side: answers each message with its time.
void answer(int rank, const Send& send, const Receive& receive)
{
    for (int i = 0; i < ping_pongs; ++i) {
        std::byte question{};
        receive(rank, {&question, 1});
        const std::int64_t now_ns = base::now_ns();
        send(rank, std::as_bytes(std::span{&now_ns, 1}));
    }
}

ClockOffset ask(const Send& send, const Receive& receive)
{
    ClockOffset best{.round_trip_ns = INT64_MAX};
    for (int i = 0; i < ping_pongs; ++i) {
        constexpr std::byte question{};
        std::int64_t theirs_ns = 0;
        const std::int64_t before_ns = base::now_ns();
        send(0, {&question, 1});
        receive(0, std::as_writable_bytes(std::span{&theirs_ns, 1}));
        const std::int64_t round_trip_ns = base::now_ns() - before_ns;
        if (round_trip_ns >= best.round_trip_ns) continue;
        const std::int64_t middle_ns = before_ns + round_trip_ns / 2;
        best = {.at_ns = middle_ns, .offset_ns = theirs_ns - middle_ns, .round_trip_ns = round_trip_ns};
    }
    return best;
}

}  // namespace

std::string Team::scatter(const std::vector<std::string>& parts_of_rank_0)
{
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<std::uint64_t> sizes(ranks);
    const std::size_t head = ranks * sizeof sizes.front();
    std::string all;
    if (rank() == 0) {
        for (std::size_t i = 0; i < ranks; ++i) sizes[i] = parts_of_rank_0.at(i).size();
        all.assign(reinterpret_cast<const char*>(sizes.data()), head);
        for (const std::string& part : parts_of_rank_0) all += part;
    }
    all = broadcast(all);
    if (all.size() < head) base::fail("rank 0 sends ", all.size(), " bytes for ", ranks, " ranks");
    std::memcpy(sizes.data(), all.data(), head);
    const auto mine = sizes.begin() + rank();
    return all.substr(std::accumulate(sizes.begin(), mine, std::uint64_t{head}), *mine);
}

ClockOffset compare_clocks(Team& team, const std::string& clock_identity, const Send& send, const Receive& receive)
{
    std::string same;  // a character a rank
    for (const std::string& identity : team.gather(clock_identity)) same += identity == clock_identity ? 'y' : 'n';
    same = team.broadcast(same);
    ClockOffset sample{.at_ns = base::now_ns(), .offset_ns = 0, .round_trip_ns = 0};
    for (int rank = 1; rank < team.size(); ++rank) {
        if (same[static_cast<std::size_t>(rank)] == 'y') continue;
        if (team.rank() == 0) answer(rank, send, receive);
        if (team.rank() == rank) sample = ask(send, receive);
    }
    return sample;
}

std::string SoloTeam::process_name() const
{
    std::error_code code;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", code);
    return code ? "process" : program.filename().string();
}

ClockOffset SoloTeam::clock_offset(const std::string&)
{
    return {.at_ns = base::now_ns(), .offset_ns = 0, .round_trip_ns = 0};
}

}  // namespace otf2
