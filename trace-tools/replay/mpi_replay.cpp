#include "trace-tools/replay/mpi_replay.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "trace-tools/replay/collective_replay.hpp"
#include "trace-tools/replay/message_replay.hpp"
#include "trace-tools/replay/replay_state.hpp"
#include "trace-tools/replay/started_requests.hpp"
#include "trace-tools/replay/task_replay.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace replay {

namespace {

enum class Kind : std::uint8_t { work, mpi, task_create, task, task_wait, thread_barrier };

// OpenMP's tasks are not analysed: the threads that wait execute them.
Kind kind_of(const otf2::Region& region)
{
    if (is_mpi(region)) return Kind::mpi;
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

struct OpenRegion {
    std::uint32_t region = 0;
    std::uint32_t where = 0;
    bool is_step = false;
};

// A location's open regions and their times.
struct CallStack {
    std::vector<OpenRegion> open;
    std::int64_t first_ns = INT64_MIN;
    std::int64_t last_ns = 0;  // previous event
    std::int64_t steps = 0;    // visits of Options::step_region
    otf2::TimeSums exclusive;
    std::int64_t mpi_ns = 0;
    bool calls_mpi = false;

    // The current step:
    std::size_t step_depth = 0;  // open regions, with the step's own
    std::int64_t step_ns = 0;    // its begin
    std::int64_t phase_ns = 0;   // begin of its current phase
    otf2::TimeSums phases;

    std::uint32_t where() const { return open.empty() ? otf2::nowhere : open.back().where; }
};

}  // namespace

struct MpiReplay::Engine {
    Engine(const otf2::Archive& archive, Options how, Sink sink, StartedRequests started)
        : options{std::move(how)},
          step_attribute{archive.find_attribute(base::attribute::step)},
          stacks(archive.locations.size()),
          replay{archive, options.part, options.critical_path, options.threads, std::move(sink)},
          collectives{replay, std::move(started.collectives)},
          messages{replay, std::move(started.receives)},
          tasks{replay}
    {
        for (const otf2::Region& region : archive.regions) {
            kinds.push_back(kind_of(region));
            initialises.push_back(region.name == "MPI_Init" || region.name == "MPI_Init_thread");
        }
    }

    Options options;
    std::optional<std::uint32_t> step_attribute;
    std::vector<Kind> kinds;        // by region
    std::vector<bool> initialises;  // by region: MPI_Init
    std::vector<CallStack> stacks;  // by location
    std::int64_t first_ns = INT64_MIN;
    bool named_is_numbered = false;             // Options::step_region has an attribute `step`
    std::uint32_t with_phases = otf2::nowhere;  // region of the steps that have phases
    ReplayState replay;
    CollectiveReplay collectives;
    MessageReplay messages;
    TaskReplay tasks;

    std::int64_t run_ns(std::uint32_t location) const
    {
        const CallStack& stack = stacks[location];
        return stack.first_ns == INT64_MIN ? 0 : options.part.within(location, stack.first_ns, stack.last_ns);
    }

    // Processes that call MPI. `in_part`: only those with time in the part.
    std::set<std::uint32_t> callers(bool in_part) const
    {
        std::set<std::uint32_t> processes;
        for (std::uint32_t location = 0; location < stacks.size(); ++location)
            if (stacks[location].calls_mpi && (!in_part || run_ns(location) > 0))
                processes.insert(replay.process_of(location));
        return processes;
    }

    // Accounts for the time since the location's previous event.
    CallStack& account(const otf2::At& at)
    {
        CallStack& stack = stacks[at.location];
        if (stack.first_ns == INT64_MIN) {
            if (first_ns == INT64_MIN) first_ns = at.time_ns;  // of all locations: events come in the order of time
            stack.first_ns = at.time_ns;
            stack.last_ns = at.time_ns;
            replay.delays.begin(at.location, first_ns);
        }
        if (replay.locations[at.location].in_mpi == 0) {
            const std::uint32_t where = stack.where();
            stack.exclusive.add(where, options.part.within(at.location, stack.last_ns, at.time_ns));
            const Kind kind = stack.open.empty() ? Kind::work : kinds[stack.open.back().region];
            if (replay.delays.enabled() && kind == Kind::task_wait)
                tasks.end_wait(at.location, at.time_ns, where);
            else if (kind == Kind::thread_barrier)
                replay.delays.idle_until(at.location, at.time_ns, where);
            else
                replay.delays.work_until(at.location, at.time_ns, where);
        }
        stack.last_ns = at.time_ns;
        return stack;
    }

    std::optional<std::uint64_t> step_number(CallStack& stack, std::uint32_t region,
                                             const otf2::EventAttributes& attributes)
    {
        const bool has_attributes = step_attribute && attributes.size() > 0;
        const auto number = has_attributes ? attributes.number(*step_attribute) : std::nullopt;
        if (region == options.step_region) {
            named_is_numbered |= number.has_value();
            return number ? number : stack.steps++;
        }
        return options.step_region == otf2::nowhere || named_is_numbered ? number : std::nullopt;
    }

    void begin_step(const otf2::At& at, std::uint64_t number)
    {
        CallStack& stack = stacks[at.location];
        LocationState& own = replay.locations[at.location];
        own.step = static_cast<std::int64_t>(number);
        if (with_phases == otf2::nowhere) with_phases = stack.open.back().region;
        stack.step_depth = stack.open.size();
        stack.step_ns = at.time_ns;
        stack.phases.clear();
        replay.waits.begin_step(at.location, own.step);
    }

    void leave_innermost(const otf2::At& at)
    {
        CallStack& stack = stacks[at.location];
        const OpenRegion open = stack.open.back();
        if (kinds[open.region] == Kind::mpi)
            end_call(at.location, at.time_ns, initialises[open.region]);
        else if (replay.delays.enabled() && replay.locations[at.location].in_mpi == 0)
            leave_task(at, kinds[open.region]);
        const bool in_step = replay.locations[at.location].step >= 0;
        if (options.phases && in_step && stack.open[stack.step_depth - 1].region == with_phases) {
            if (stack.open.size() == stack.step_depth + 1) stack.phases.add(open.where, at.time_ns - stack.phase_ns);
            if (open.is_step) report_phases(at, open.where);
        }
        if (open.is_step) replay.locations[at.location].step = -1;
        stack.open.pop_back();
    }

    void enter_task(const otf2::At& at, Kind kind, std::int64_t idle_since_ns)
    {
        const CallStack& stack = stacks[at.location];
        const std::size_t around = stack.open.size() - 1;
        if (kind == Kind::work && around == 0)
            tasks.begin_untagged(at.location, idle_since_ns);
        else if (kind == Kind::task)
            tasks.begin(at.location, idle_since_ns, around == 0 ? otf2::nowhere : stack.open[around - 1].where);
        else if (kind == Kind::task_wait)
            tasks.create(at.location);  // all tasks were created before the wait
    }

    void leave_task(const otf2::At& at, Kind kind)
    {
        if (kind == Kind::task) tasks.end(at.location);
        if (kind == Kind::task_create) tasks.create(at.location);
    }

    void report_phases(const otf2::At& at, std::uint32_t step)
    {
        CallStack& stack = stacks[at.location];
        std::int64_t rest_ns = at.time_ns - stack.step_ns;
        if (options.part.within(at.location, stack.step_ns, at.time_ns) < rest_ns) return;
        for (const auto& [where, ns] : stack.phases.all()) rest_ns -= ns;
        stack.phases.add(step, rest_ns);
        for (const auto& [where, ns] : stack.phases.all())
            options.phases(
                {.step = replay.locations[at.location].step, .where = where, .location = at.location, .ns = ns});
    }

    void end_call(std::uint32_t location, std::int64_t now_ns, bool initialised)
    {
        LocationState& own = replay.locations[location];
        if (--own.in_mpi > 0) return;
        replay.end_collective(location);
        messages.end_call(location, now_ns);
        replay.delays.end_call(location, now_ns, own.call);
        if (initialised) replay.delays.synchronise_all(location, now_ns, own.call);
        const std::int64_t inside_ns = options.part.within(location, own.call_ns, now_ns);
        stacks[location].exclusive.add(own.call, inside_ns);
        stacks[location].mpi_ns += inside_ns;
        stacks[location].calls_mpi = true;
    }
};

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
    if (own.in_mpi == 0 && engine.replay.delays.enabled()) engine.enter_task(at, kind, idle_since_ns);
}

void MpiReplay::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    Engine& engine = *engine_;
    const CallStack& stack = engine.account(at);
    const auto same_region = [&](const OpenRegion& open) { return open.region == region; };
    if (std::none_of(stack.open.rbegin(), stack.open.rend(), same_region)) return;
    while (stack.open.back().region != region)
        engine.leave_innermost(at);  // never left: ends with the region around it
    engine.leave_innermost(at);
}

void MpiReplay::collective_begin(const otf2::At& at)
{
    if (engine_->replay.locations[at.location].in_mpi > 0) engine_->replay.begin_collective(at.location);
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
        std::count_if(stacks.begin(), stacks.end(), [](const CallStack& stack) { return stack.first_ns != INT64_MIN; });
    return locations == 1 || engine_->callers(false).size() > 1 || engine_->tasks.any();
}

CriticalPath MpiReplay::critical_path() const
{
    const std::vector<CallStack>& stacks = engine_->stacks;
    const auto earlier = [](const CallStack& one, const CallStack& other) { return one.last_ns < other.last_ns; };
    const auto last = std::max_element(stacks.begin(), stacks.end(), earlier);
    if (last == stacks.end() || last->first_ns == INT64_MIN) return {};
    std::vector<std::int64_t> waited_ns;
    for (const LocationState& own : engine_->replay.locations) waited_ns.push_back(own.waiting_ns);
    DelayCostSums costs = engine_->replay.delays.delay_costs(waited_ns);
    return {.ns = engine_->replay.delays.path_to(static_cast<std::uint32_t>(last - stacks.begin())),
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
           " collectives end on one rank before another one came: clocks that are not corrected?");
    report(engine.collectives.mismatches(), " collectives are another operation on one rank than on another");
    report(engine.replay.unmatched_events,
           " MPI events are outside of an MPI call, of no rank of their communicator, or of no request");
    report(engine.messages.unmatched_receives(),
           " messages are received before they are sent: clocks that are not corrected?");
    report(engine.messages.never_received(), " messages are sent and never received");
    report(engine.collectives.unfinished(), " collectives are not called by all ranks of their communicator");
    return problems;
}

}  // namespace replay
