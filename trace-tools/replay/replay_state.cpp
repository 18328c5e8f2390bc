// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/replay_state.hpp"

namespace replay {

ReplayState::ReplayState(const otf2::Archive& of, const otf2::Part& only, DelayReplay::How how, WaitSums::Sink sink)
    : archive{of},
      part{only},
      locations(of.locations.size()),
      delays{of.locations.size(), std::move(how), only},
      waits{of.locations.size(), std::move(sink)},
      in_collective_(std::max(of.locations.size(), of.processes.size()))
{
    for (const otf2::Communicator& communicator : archive.communicators) {
        Ranks& ranks = ranks_.emplace_back(in_collective_.size(), communicator.members.size());
        for (std::uint32_t rank = 0; rank < communicator.members.size(); ++rank)
            if (is_location(communicator.members[rank])) ranks.add(process_of(communicator.members[rank]), rank);
    }
}

ReplayState::Ranks::Ranks(std::size_t places, std::size_t members)
{
    constexpr std::size_t few = 16;  // table slots for each member
    if (places <= few * members) all_.assign(places, otf2::nowhere);
}

// If a process has several ranks, the first one is kept.
void ReplayState::Ranks::add(std::uint32_t place, std::uint32_t rank)
{
    if (all_.empty())
        some_.emplace(place, rank);
    else if (all_[place] == otf2::nowhere)
        all_[place] = rank;
}

std::uint32_t ReplayState::Ranks::find(std::uint32_t place) const
{
    if (!all_.empty()) return all_[place];
    const auto found = some_.find(place);
    return found != some_.end() ? found->second : otf2::nowhere;
}

std::uint32_t ReplayState::process_of(std::uint32_t location) const
{
    const std::uint32_t process = archive.locations[location].process;
    return process != otf2::nowhere ? process : location;
}

std::optional<std::uint32_t> ReplayState::find_rank(std::uint32_t communicator, std::uint32_t location) const
{
    return locations[location].in_mpi > 0 ? member_rank(communicator, location) : std::nullopt;
}

std::optional<std::uint32_t> ReplayState::member_rank(std::uint32_t communicator, std::uint32_t location) const
{
    if (communicator >= ranks_.size()) return std::nullopt;
    const std::uint32_t rank = ranks_[communicator].find(process_of(location));
    return rank != otf2::nowhere ? std::optional{rank} : std::nullopt;
}

std::optional<std::uint32_t> ReplayState::rank_of(std::uint32_t communicator, std::uint32_t location)
{
    const auto rank = find_rank(communicator, location);
    const bool alone = communicator < archive.communicators.size() && archive.communicators[communicator].self;
    if (!rank && !alone) ++unmatched_events;
    return rank;
}

MpiCall ReplayState::call(std::uint32_t location, std::int64_t now_ns) const
{
    const LocationState& own = locations[location];
    return {.begin_ns = own.call_ns, .end_ns = now_ns, .location = location, .where = own.call, .step = own.step};
}

void ReplayState::count(Pattern pattern, std::uint32_t communicator, const MpiCall& call, std::int64_t begin_ns,
                        std::int64_t end_ns)
{
    if (end_ns <= begin_ns) return;
    const std::int64_t ns = part.within(call.location, begin_ns, end_ns);
    if (ns <= 0) return;
    waits.add({call.step, pattern, communicator, call.where, call.location}, ns);
    if (wait_state(pattern).waits_for_another) locations[call.location].waiting_ns += ns;
}

}  // namespace replay
