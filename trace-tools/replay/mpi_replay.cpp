// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/mpi_replay.hpp"

#include "base/error.hpp"
#include "trace-tools/otf2/mpi_calls.hpp"
#include "trace-tools/replay/engine.hpp"

#include <algorithm>

namespace replay {

Kind kind_of(const otf2::Region& region)
{
    if (otf2::is_mpi_call(region)) return Kind::mpi;
    const bool barrier = region.role == otf2::RegionRole::barrier || region.role == otf2::RegionRole::implicit_barrier;
    if (barrier && (region.paradigm == otf2::Paradigm::openmp || region.paradigm == otf2::Paradigm::pthread))
        return Kind::thread_barrier;
    if (region.paradigm != otf2::Paradigm::user) return Kind::work;
    switch (region.role) {
        case otf2::RegionRole::task_create:
            return Kind::task_create;
        case otf2::RegionRole::task:
            return Kind::task;
        case otf2::RegionRole::task_wait:
            return Kind::task_wait;
        default:
            return Kind::work;
    }
}

MpiReplay::MpiReplay(otf2::Reader& reader, const Options& options, Sink sink)
    : MpiReplay{reader.archive(), started_requests(reader, options.critical_path, options.threads), options,
                std::move(sink)}
{
}

MpiReplay::MpiReplay(const otf2::Archive& archive, StartedRequests started, const Options& options, Sink sink)
    : engine_{std::make_unique<Engine>(archive, options, std::move(sink), std::move(started))}
{
}

MpiReplay::~MpiReplay() = default;

void MpiReplay::enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes)
{
    Engine& engine = *engine_;
    const std::int64_t idle_since_ns =
        engine.stacks[at.location].first_ns == INT64_MIN ? INT64_MIN : engine.stacks[at.location].last_ns;
    CallStack& stack = engine.account(at);
    LocationState& own = engine.replay.locations[at.location];
    otf2::CallTree* const paths = engine.options.call_paths;
    stack.open.push_back({.region = region, .where = paths != nullptr ? paths->child(stack.where(), region) : region});
    if (own.step < 0) {
        const auto number = engine.step_number(stack, region, attributes);
        stack.open.back().is_step = number && *number <= INT64_MAX;
        if (stack.open.back().is_step) engine.begin_step(at, *number);
    } else if (stack.open.size() == stack.step_depth + 1) {
        stack.phase_ns = at.time_ns;
    }
    const Kind kind = engine.kinds[region];
    if (kind == Kind::mpi && own.in_mpi++ == 0) {
        own.call = stack.where();
        own.call_ns = at.time_ns;
        engine.messages.begin_call(at.location);
    }
    if (own.in_mpi > 0 || !engine.follows_work) return;
    if (kind == Kind::beside_gpu)
        engine.enter_beside_gpu(at, region, attributes, idle_since_ns);
    else
        engine.enter_task(at, kind, idle_since_ns);
}

void MpiReplay::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    Engine& engine = *engine_;
    const CallStack& stack = engine.account(at);
    const auto same_region = [&](const OpenRegion& open) { return open.region == region; };
    if (std::none_of(stack.open.rbegin(), stack.open.rend(), same_region)) return;
    while (stack.open.back().region != region)
        engine.leave_innermost(at);  // regions never left end with the enclosing region
    engine.leave_innermost(at);
}

void MpiReplay::collective_begin(const otf2::At& at)
{
    engine_->collectives.begin(at.location);
}

void MpiReplay::collective_end(const otf2::At& at, const otf2::CollectiveRecord& record)
{
    engine_->collectives.end(at.location, at.time_ns, record);
}

void MpiReplay::collective_request(const otf2::At& at, std::uint64_t request)
{
    engine_->collectives.start(at.location, request);
}

void MpiReplay::collective_complete(const otf2::At& at, const otf2::CollectiveRecord& record)
{
    engine_->collectives.complete(at.location, at.time_ns, record);
}

void MpiReplay::send(const otf2::At& at, const otf2::MessageRecord& message)
{
    engine_->messages.send(at.location, message);
}

void MpiReplay::send_complete(const otf2::At& at, std::uint64_t request)
{
    engine_->messages.complete_send(at.location, request);
}

void MpiReplay::receive_request(const otf2::At& at, std::uint64_t request)
{
    engine_->messages.post_receive(at.location, request);
}

void MpiReplay::receive(const otf2::At& at, const otf2::MessageRecord& message)
{
    engine_->messages.receive(at.location, message);
}

void MpiReplay::transfer_begin(const otf2::At& at)
{
    engine_->transfer(at, true);
}

void MpiReplay::transfer_end(const otf2::At& at)
{
    engine_->transfer(at, false);
}

void MpiReplay::finish()
{
    Engine& engine = *engine_;
    for (std::uint32_t location = 0; location < engine.stacks.size(); ++location)
        while (!engine.stacks[location].open.empty())
            engine.leave_innermost({.location = location, .time_ns = engine.stacks[location].last_ns});
    engine.replay.waits.finish();
    engine.replay.delays.finish();
}

std::vector<MpiTimes> MpiReplay::times() const
{
    std::vector<MpiTimes> times;
    for (std::size_t location = 0; location < engine_->stacks.size(); ++location) {
        const CallStack& stack = engine_->stacks[location];
        times.push_back({.first_ns = std::max<std::int64_t>(stack.first_ns, 0),
                         .last_ns = stack.last_ns,
                         .run_ns = engine_->run_ns(static_cast<std::uint32_t>(location)),
                         .mpi_ns = stack.mpi_ns,
                         .waiting_ns = engine_->replay.locations[location].waiting_ns,
                         .calls_mpi = stack.calls_mpi});
    }
    return times;
}

PathTimes MpiReplay::exclusive() const
{
    PathTimes times;
    for (std::uint32_t location = 0; location < engine_->stacks.size(); ++location) {
        for (const auto& [where, ns] : engine_->stacks[location].exclusive.all())
            if (ns > 0) times[{where, location}] = ns;
    }
    return times;
}

std::size_t MpiReplay::ranks() const
{
    return engine_->callers(true).size();
}

bool MpiReplay::joined() const
{
    const std::vector<CallStack>& stacks = engine_->stacks;
    const auto locations =
        std::ranges::count_if(stacks, [](const CallStack& stack) { return stack.first_ns != INT64_MIN; });
    return locations == 1 || engine_->callers(false).size() > 1 || engine_->tasks.any() || engine_->streams.joined();
}

CriticalPath MpiReplay::critical_path() const
{
    const std::vector<CallStack>& stacks = engine_->stacks;
    const std::size_t location_of_end = engine_->last_on_path();
    if (location_of_end == stacks.size()) return {};
    const auto last = stacks.begin() + static_cast<std::ptrdiff_t>(location_of_end);
    std::vector<std::int64_t> waited_ns;
    for (const LocationState& own : engine_->replay.locations) waited_ns.push_back(own.waiting_ns);
    DelayCostSums costs = engine_->replay.delays.delay_costs(waited_ns);
    const auto location = static_cast<std::uint32_t>(last - stacks.begin());
    const gpu::StreamReplay& streams = engine_->streams;
    return {.ns = engine_->replay.delays.path_to(streams.any() ? streams.thread_of(location) : location),
            .delay = std::move(costs.all),
            .indirect_delay = std::move(costs.indirect),
            .unknown_delay = std::move(costs.unknown),
            .length_ns = last->last_ns - engine_->first_ns};
}

std::vector<std::string> MpiReplay::problems() const
{
    std::vector<std::string> problems;
    const auto report = [&](std::uint64_t count, const char* what) {
        if (count > 0) problems.push_back(base::join(count, what));
    };
    const Engine& engine = *engine_;
    report(engine.collectives.clock_errors(),
           " collectives end on one rank before another one entered: uncorrected clocks?");
    report(engine.collectives.mismatches(), " collectives have different operations on different ranks");
    report(engine.replay.unmatched_events,
           " MPI events have no MPI call, no rank in their communicator, or no request");
    report(engine.messages.unmatched_receives(), " messages are received before they are sent: uncorrected clocks?");
    report(engine.messages.never_received(), " messages are sent and never received");
    report(engine.collectives.unfinished(), " collectives are not called by all ranks of their communicator");
    return problems;
}

}  // namespace replay
