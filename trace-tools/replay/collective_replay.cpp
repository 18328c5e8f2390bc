// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/collective_replay.hpp"

#include <algorithm>

namespace replay {

CollectiveReplay::CollectiveReplay(ReplayState& state, std::vector<std::vector<std::uint32_t>> starts,
                                   std::vector<std::vector<std::uint32_t>> blocking)
    : state_{state}, starts_(state.locations.size()), begins_(state.locations.size())
{
    for (std::size_t location = 0; location < blocking.size(); ++location)
        begins_[location].communicators = std::move(blocking[location]);
    for (std::size_t location = 0; location < starts.size(); ++location)
        starts_[location].communicators = std::move(starts[location]);
    for (const otf2::Communicator& communicator : state.archive.communicators) {
        Instances none;
        none.next.resize(communicator.members.size());
        blocking_.push_back(none);
        non_blocking_.push_back(std::move(none));
    }
}

CollectiveReplay::Flow CollectiveReplay::flow_of(otf2::Operation operation)
{
    switch (operation) {
        case otf2::Operation::barrier:
            return Flow::barrier;
        case otf2::Operation::broadcast:
        case otf2::Operation::scatter:
        case otf2::Operation::scatterv:
            return Flow::one_to_all;
        case otf2::Operation::gather:
        case otf2::Operation::gatherv:
        case otf2::Operation::reduce:
            return Flow::all_to_one;
        case otf2::Operation::allgather:
        case otf2::Operation::allgatherv:
        case otf2::Operation::alltoall:
        case otf2::Operation::alltoallv:
        case otf2::Operation::alltoallw:
        case otf2::Operation::allreduce:
        case otf2::Operation::reduce_scatter:
        case otf2::Operation::reduce_scatter_block:
            return Flow::all_to_all;
        default:
            return Flow::none;
    }
}

CollectiveReplay::Instance& CollectiveReplay::numbered(Instances& all, std::uint64_t number)
{
    while (all.first + all.open.size() <= number) all.open.emplace_back().calls.resize(all.next.size());
    return all.open[number - all.first];
}

void CollectiveReplay::drop_complete(Instances& all)
{
    while (!all.open.empty() && all.open.front().ended == all.open.front().calls.size()) {
        all.open.pop_front();
        ++all.first;
    }
}

void CollectiveReplay::begin(std::uint32_t location)
{
    Begins& mine = begins_[location];
    const std::size_t number = mine.count++;
    if (state_.locations[location].in_mpi == 0) return;
    state_.begin_collective(location, number < mine.communicators.size() ? mine.communicators[number] : otf2::nowhere);
}

void CollectiveReplay::end(std::uint32_t location, std::int64_t now_ns, const otf2::CollectiveRecord& record)
{
    const Flow flow = flow_of(record.operation);
    if (flow == Flow::none) return;
    const auto rank = state_.rank_of(record.communicator, location);
    if (!rank) return;
    Instances& all = blocking_[record.communicator];
    Instance& instance = numbered(all, all.next[*rank]++);
    if (instance.ended == 0) {
        instance.operation = record.operation;
        instance.root = record.root;
    } else if (instance.operation != record.operation) {
        ++mismatches_;
    }
    if (state_.delays.enabled()) synchronise(instance, flow, record.communicator, *rank, location);
    instance.calls[*rank] = state_.call(location, now_ns);
    if (++instance.ended == instance.calls.size()) {
        count_waits(instance, flow, record.communicator);
        drop_complete(all);
    }
}

void CollectiveReplay::synchronise(Instance& instance, Flow flow, std::uint32_t communicator, std::uint32_t rank,
                                   std::uint32_t location)
{
    const bool root = rank == instance.root;
    switch (flow) {
        case Flow::all_to_all:
        case Flow::barrier:
            if (!instance.awaited) instance.awaited = last_arrival(instance, communicator);
            state_.wait_for(location, *instance.awaited);
            break;
        case Flow::one_to_all:
            if (!instance.awaited && root) instance.awaited = state_.arrival(location);
            if (!instance.awaited) instance.awaited = current_arrival(communicator, instance.root);
            if (!root && instance.awaited) state_.wait_for(location, *instance.awaited);
            break;
        case Flow::all_to_one:
            if (!root) {
                if (!instance.awaited || state_.locations[location].call_ns > instance.awaited->ns)
                    instance.awaited = state_.arrival(location);
            } else {
                const Arrival last = last_arrival(instance, communicator);
                const bool seen = instance.awaited && instance.awaited->ns >= last.ns;
                state_.wait_for(location, seen ? *instance.awaited : last);
            }
            break;
        case Flow::none:
            break;
    }
}

// None if the rank is not in a collective now.
std::optional<Arrival> CollectiveReplay::current_arrival(std::uint32_t communicator, std::uint32_t rank)
{
    const std::vector<std::uint32_t>& members = state_.members(communicator);
    const std::uint32_t location =
        rank < members.size() ? state_.in_collective(members[rank], communicator) : otf2::nowhere;
    return location == otf2::nowhere ? std::nullopt : std::optional{state_.arrival(location)};
}

// The latest arrival among the ranks that are still inside the collective.
Arrival CollectiveReplay::last_arrival(const Instance& instance, std::uint32_t communicator)
{
    const std::vector<std::uint32_t>& members = state_.members(communicator);
    std::uint32_t last = otf2::nowhere;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
        const std::uint32_t location = state_.in_collective(members[rank], communicator);
        if (location == otf2::nowhere || instance.calls[rank].location != otf2::nowhere) continue;
        if (last == otf2::nowhere || state_.locations[location].call_ns > state_.locations[last].call_ns)
            last = location;
    }
    return last == otf2::nowhere ? Arrival{} : state_.arrival(last);
}

void CollectiveReplay::count_waits(const Instance& instance, Flow flow, std::uint32_t communicator)
{
    if (flow == Flow::all_to_all)
        count_symmetric(instance, Pattern::wait_nxn, Pattern::nxn_completion, communicator);
    else if (flow == Flow::barrier)
        count_symmetric(instance, Pattern::barrier_wait, Pattern::barrier_completion, communicator);
    else if (instance.root < instance.calls.size())
        count_rooted(instance, flow, communicator);
}

void CollectiveReplay::count_symmetric(const Instance& instance, Pattern wait, Pattern completion,
                                       std::uint32_t communicator)
{
    std::int64_t last_begin = INT64_MIN;
    std::int64_t first_end = INT64_MAX;
    for (const MpiCall& call : instance.calls) {
        last_begin = std::max(last_begin, call.begin_ns);
        first_end = std::min(first_end, call.end_ns);
    }
    if (first_end < last_begin) ++clock_errors_;
    for (const MpiCall& call : instance.calls) {
        state_.count(wait, communicator, call, call.begin_ns, last_begin);
        state_.count(completion, communicator, call, first_end, call.end_ns);
    }
}

void CollectiveReplay::count_rooted(const Instance& instance, Flow flow, std::uint32_t communicator)
{
    const MpiCall& root = instance.calls[instance.root];
    std::int64_t last_other = INT64_MIN;
    for (const MpiCall& call : instance.calls) {
        if (&call == &root) continue;
        last_other = std::max(last_other, call.begin_ns);
        if (flow != Flow::one_to_all) continue;
        if (call.end_ns < root.begin_ns) ++clock_errors_;
        state_.count(Pattern::late_broadcast, communicator, call, call.begin_ns, root.begin_ns);
    }
    if (flow == Flow::all_to_one && last_other != INT64_MIN) {
        if (root.end_ns < last_other) ++clock_errors_;
        state_.count(Pattern::early_reduce, communicator, root, root.begin_ns, last_other);
    }
}

void CollectiveReplay::start(std::uint32_t location, std::uint64_t request)
{
    Starts& mine = starts_[location];
    const std::size_t start = mine.count++;
    if (start >= mine.communicators.size() || mine.communicators[start] == otf2::nowhere) return;
    const std::uint32_t communicator = mine.communicators[start];
    const auto rank = state_.rank_of(communicator, location);
    if (!rank) return;
    Instances& all = non_blocking_[communicator];
    const std::uint64_t number = all.next[*rank]++;
    Instance& instance = numbered(all, number);
    Arrival own = state_.arrival(location);
    if (!instance.awaited || own.ns >= instance.awaited->ns) instance.awaited = std::move(own);
    mine.open[request] = {.communicator = communicator, .number = number};
}

void CollectiveReplay::complete(std::uint32_t location, std::int64_t now_ns, const otf2::CollectiveRecord& record)
{
    const auto rank = state_.rank_of(record.communicator, location);
    if (!rank) return;
    auto& open = starts_[location].open;
    const auto mine = open.find(record.request);
    if (mine == open.end() || mine->second.communicator != record.communicator) {
        ++state_.unmatched_events;
        return;
    }
    Instances& all = non_blocking_[record.communicator];
    Instance& instance = numbered(all, mine->second.number);
    open.erase(mine);

    // If one call completes several collectives, each is charged with the time after the previous one.
    const MpiCall call = state_.call(location, now_ns);
    LocationState& own = state_.locations[location];
    const std::int64_t from_ns = std::max(call.begin_ns, own.exposed_ns);
    state_.count(Pattern::icollective_exposed, record.communicator, call, from_ns, now_ns);
    own.exposed_ns = now_ns;
    const std::int64_t until_ns = std::min(instance.awaited->ns, now_ns);
    const std::int64_t wait_from_ns = state_.wait_begin_ns(location);
    state_.count(Pattern::icollective_wait, record.communicator, call, wait_from_ns, until_ns);
    if (until_ns > wait_from_ns) state_.wait_for(location, *instance.awaited);
    own.waited_ns = std::max(own.waited_ns, until_ns);
    instance.calls[*rank] = call;
    if (++instance.ended == instance.calls.size()) drop_complete(all);
}

std::uint64_t CollectiveReplay::unfinished() const
{
    std::uint64_t unfinished = 0;
    for (const Instances& all : blocking_) unfinished += all.open.size();
    for (const Instances& all : non_blocking_) unfinished += all.open.size();
    return unfinished;
}

}  // namespace replay
