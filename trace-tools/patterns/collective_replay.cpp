#include "trace-tools/patterns/collective_replay.hpp"

#include <algorithm>

namespace otf2 {

CollectiveReplay::CollectiveReplay(ReplayState& state) : state_{state}, started_(state.places.size())
{
    for (const Communicator& communicator : state.archive.communicators) {
        Instances none;
        none.next.resize(communicator.members.size());
        blocking_.push_back(none);
        non_blocking_.push_back(std::move(none));
    }
}

CollectiveReplay::Flow CollectiveReplay::flow_of(Operation operation)
{
    switch (operation) {
        case Operation::barrier:
            return Flow::barrier;
        case Operation::broadcast:
        case Operation::scatter:
        case Operation::scatterv:
            return Flow::one_to_all;
        case Operation::gather:
        case Operation::gatherv:
        case Operation::reduce:
            return Flow::all_to_one;
        case Operation::allgather:
        case Operation::allgatherv:
        case Operation::alltoall:
        case Operation::alltoallv:
        case Operation::alltoallw:
        case Operation::allreduce:
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
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

void CollectiveReplay::drop_done(Instances& all)
{
    while (!all.open.empty() && all.open.front().ended == all.open.front().calls.size()) {
        all.open.pop_front();
        ++all.first;
    }
}

void CollectiveReplay::end(std::uint32_t location, std::int64_t now_ns, const CollectiveRecord& record)
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
    if (state_.causes.followed()) follow(instance, flow, record.communicator, *rank, location);
    instance.calls[*rank] = state_.call(location, now_ns);
    if (++instance.ended == instance.calls.size()) {
        count_waits(instance, flow, record.communicator);
        drop_done(all);
    }
    state_.causes.meet(location);
}

void CollectiveReplay::follow(Instance& instance, Flow flow, std::uint32_t communicator, std::uint32_t rank,
                              std::uint32_t location)
{
    const bool root = rank == instance.root;
    switch (flow) {
        case Flow::all_to_all:
        case Flow::barrier:
            if (!instance.awaited) instance.awaited = last_inside(instance, communicator);
            state_.wait_for(location, *instance.awaited);
            break;
        case Flow::one_to_all:
            if (!instance.awaited && root) instance.awaited = state_.arrival(location);
            if (!instance.awaited) instance.awaited = inside(communicator, instance.root);
            if (!root && instance.awaited) state_.wait_for(location, *instance.awaited);
            break;
        case Flow::all_to_one:
            if (!root) {
                if (!instance.awaited || state_.places[location].call_ns > instance.awaited->ns)
                    instance.awaited = state_.arrival(location);
            } else {
                const Arrival last = last_inside(instance, communicator);
                const bool seen = instance.awaited && instance.awaited->ns >= last.ns;
                state_.wait_for(location, seen ? *instance.awaited : last);
            }
            break;
        case Flow::none:
            break;
    }
}

// The rank of the communicator that is in a collective now, if it is.
std::optional<Arrival> CollectiveReplay::inside(std::uint32_t communicator, std::uint32_t rank)
{
    const std::vector<std::uint32_t>& members = state_.members(communicator);
    if (rank >= members.size() || !state_.is_location(members[rank])) return std::nullopt;
    if (!state_.places[members[rank]].in_collective) return std::nullopt;
    return state_.arrival(members[rank]);
}

// Of those that have not ended theirs the one that came last.
Arrival CollectiveReplay::last_inside(const Instance& instance, std::uint32_t communicator)
{
    const std::vector<std::uint32_t>& members = state_.members(communicator);
    std::uint32_t last = nowhere;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
        const std::uint32_t location = members[rank];
        if (!state_.is_location(location) || instance.calls[rank].location != nowhere) continue;
        if (!state_.places[location].in_collective) continue;
        if (last == nowhere || state_.places[location].call_ns > state_.places[last].call_ns) last = location;
    }
    return last == nowhere ? Arrival{} : state_.arrival(last);
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
        state_.count(wait, communicator, call, last_begin - call.begin_ns);
        state_.count(completion, communicator, call, call.end_ns - first_end);
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
        state_.count(Pattern::late_broadcast, communicator, call, root.begin_ns - call.begin_ns);
    }
    if (flow == Flow::all_to_one && last_other != INT64_MIN) {
        if (root.end_ns < last_other) ++clock_errors_;
        state_.count(Pattern::early_reduce, communicator, root, last_other - root.begin_ns);
    }
}

void CollectiveReplay::start(std::uint32_t location, std::uint64_t request)
{
    constexpr std::size_t most_open = 4096;  // more are in damaged archives only
    std::deque<Started>& open = started_[location].open;
    if (open.size() == most_open) forget_first(location);
    open.push_back(
        {.request = request, .arrival = state_.arrival(location), .region = state_.places[location].call_region});
}

void CollectiveReplay::forget_first(std::uint32_t location)
{
    std::deque<Started>& open = started_[location].open;
    do {
        const Started& first = open.front();
        if (first.communicator) ++non_blocking_[*first.communicator].next[first.rank];
        open.pop_front();
    } while (!open.empty() && open.front().communicator);
}

void CollectiveReplay::complete(std::uint32_t location, std::int64_t now_ns, const CollectiveRecord& record)
{
    const auto rank = state_.rank_of(record.communicator, location);
    if (!rank) return;
    Starts& starts = started_[location];
    const auto mine = std::find_if(starts.open.begin(), starts.open.end(), [&](const Started& one) {
        return one.request == record.request && !one.communicator;
    });
    if (mine == starts.open.end()) {
        ++state_.strangers;
        return;
    }
    const Arrival own = mine->arrival;
    const std::uint32_t region = mine->region;
    const auto position = static_cast<std::size_t>(mine - starts.open.begin());
    const std::uint64_t number = number_of(starts, position, record.communicator, *rank);
    mine->communicator = record.communicator;
    mine->rank = *rank;
    starts.on_several |= starts.communicator.value_or(record.communicator) != record.communicator;
    starts.communicator = record.communicator;
    if (position == 0) forget_first(location);

    const MpiCall wait = state_.call(location, now_ns);
    Instances& all = non_blocking_[record.communicator];
    Instance& instance = numbered(all, number);
    Arrival last = instance.all_started ? Arrival{} : last_started(instance, number, record.communicator, region);
    if (own.ns >= last.ns) last = own;
    if (!instance.awaited || instance.awaited->ns <= last.ns) instance.awaited = last;
    state_.count(Pattern::icollective_exposed, record.communicator, wait, now_ns - wait.begin_ns);
    state_.count(Pattern::icollective_wait, record.communicator, wait,
                 std::min(instance.awaited->ns, now_ns) - wait.begin_ns);
    state_.wait_for(location, *instance.awaited);
    instance.calls[*rank] = wait;
    if (++instance.ended == instance.calls.size()) drop_done(all);
}

// Which communicator a request is on is known when it has been waited for. Those before this one that were not are
// taken for some on the same, unless the rank has had some on others.
std::uint64_t CollectiveReplay::number_of(const Starts& starts, std::size_t position, std::uint32_t communicator,
                                          std::uint32_t rank)
{
    const bool on_this_only = !starts.on_several && starts.communicator.value_or(communicator) == communicator;
    Instances& all = non_blocking_[communicator];
    std::uint64_t number = all.next[rank];
    for (std::size_t i = 0; i < position; ++i) {
        const std::optional<std::uint32_t> known = starts.open[i].communicator;
        if (known ? *known == communicator : on_this_only) ++number;
    }
    number = std::max(number, all.first);
    while (numbered(all, number).calls[rank].location != nowhere) ++number;
    return number;
}

// Of ranks that have not waited for theirs, the last that started it. Starts that may be on other communicators are
// taken for some on this one if the same MPI function made them.
Arrival CollectiveReplay::last_started(Instance& instance, std::uint64_t number, std::uint32_t communicator,
                                       std::uint32_t region) const
{
    const std::vector<std::uint32_t>& members = state_.members(communicator);
    Arrival last;
    instance.all_started = true;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
        if (instance.calls[rank].location != nowhere || !state_.is_location(members[rank])) continue;
        const std::deque<Started>& open = started_[members[rank]].open;
        std::uint64_t next = non_blocking_[communicator].next[rank];
        const auto its = std::find_if(open.begin(), open.end(), [&](const Started& one) {
            if (one.communicator.value_or(communicator) != communicator) return false;
            return next++ >= number && one.region == region;
        });
        if (its == open.end())
            instance.all_started = false;
        else if (its->arrival.ns > last.ns)
            last = its->arrival;
    }
    return last;
}

std::uint64_t CollectiveReplay::unfinished() const
{
    std::uint64_t unfinished = 0;
    for (const Instances& all : blocking_) unfinished += all.open.size();
    for (const Instances& all : non_blocking_) unfinished += all.open.size();
    return unfinished;
}

}  // namespace otf2
