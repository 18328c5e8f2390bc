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

namespace otf2 {

namespace {

enum class Kind : std::uint8_t { work, mpi, task_create, task, task_wait, thread_barrier };

// OpenMP's tasks are bound to threads, and done by those that wait.
Kind kind_of(const Region& region)
{
    if (is_mpi(region)) return Kind::mpi;
    const bool barrier = region.role == RegionRole::barrier || region.role == RegionRole::implicit_barrier;
    if (barrier && (region.paradigm == Paradigm::openmp || region.paradigm == Paradigm::pthread))
        return Kind::thread_barrier;
    if (region.paradigm != Paradigm::user) return Kind::work;
    switch (region.role) {
        case RegionRole::task_create:
            return Kind::task_create;
        case RegionRole::task:
            return Kind::task;
        case RegionRole::task_wait:
            return Kind::task_wait;
        default:
            return Kind::work;
    }
}

struct OpenRegion {
    std::uint32_t region = 0;
    std::uint32_t where = 0;
    bool counts = false;  // the step is its
};

// How long a location has been where.
struct Stay {
    std::vector<OpenRegion> open;
    std::int64_t first_ns = INT64_MIN;
    std::int64_t last_ns = 0;  // up to here time is accounted for
    std::int64_t steps = 0;    // visits of the step's region
    TimeSums exclusive;
    std::int64_t mpi_ns = 0;
    bool calls_mpi = false;

    // Of the step that it is in:
    std::size_t step_depth = 0;  // of open regions, the step's counted
    std::int64_t step_ns = 0;    // since when
    std::int64_t phase_ns = 0;   // since when in the region directly inside
    TimeSums phases;

    std::uint32_t where() const { return open.empty() ? nowhere : open.back().where; }
};

}  // namespace

struct MpiReplay::State {
    State(const Archive& archive, Options how, Sink sink, StartedRequests started)
        : options{std::move(how)},
          step_attribute{archive.find_attribute(base::attribute::step)},
          stays(archive.locations.size()),
          replay{archive, options.part, options.critical_path, std::move(sink)},
          collectives{replay, std::move(started.collectives)},
          messages{replay, std::move(started.receives)},
          tasks{replay}
    {
        for (const Region& region : archive.regions) {
            kinds.push_back(kind_of(region));
            initialises.push_back(region.name == "MPI_Init" || region.name == "MPI_Init_thread");
        }
    }

    Options options;
    std::optional<std::uint32_t> step_attribute;
    std::vector<Kind> kinds;        // by region
    std::vector<bool> initialises;  // MPI; by region
    std::vector<Stay> stays;        // by location
    std::int64_t first_ns = INT64_MIN;
    bool named_is_numbered = false;       // Options::step_region has an attribute `step`
    std::uint32_t with_phases = nowhere;  // the region whose visits have phases
    ReplayState replay;
    CollectiveReplay collectives;
    MessageReplay messages;
    TaskReplay tasks;

    std::int64_t run_ns(std::uint32_t location) const
    {
        const Stay& stay = stays[location];
        return stay.first_ns == INT64_MIN ? 0 : options.part.within(location, stay.first_ns, stay.last_ns);
    }

    // The processes that call MPI; all of them, or those that have time in the part.
    std::set<std::uint32_t> callers(bool in_part) const
    {
        std::set<std::uint32_t> processes;
        for (std::uint32_t location = 0; location < stays.size(); ++location)
            if (stays[location].calls_mpi && (!in_part || run_ns(location) > 0))
                processes.insert(replay.process_of(location));
        return processes;
    }

    Stay& go_on(const At& at)
    {
        Stay& stay = stays[at.location];
        if (stay.first_ns == INT64_MIN) {
            if (first_ns == INT64_MIN) first_ns = at.time_ns;  // of all: the pass is in the order of time
            stay.first_ns = at.time_ns;
            stay.last_ns = at.time_ns;
            replay.causes.begin(at.location, first_ns);
        }
        if (replay.places[at.location].in_mpi == 0) {
            const std::uint32_t where = stay.where();
            stay.exclusive.add(where, options.part.within(at.location, stay.last_ns, at.time_ns));
            const Kind kind = stay.open.empty() ? Kind::work : kinds[stay.open.back().region];
            if (replay.causes.followed() && kind == Kind::task_wait)
                tasks.end_wait(at.location, at.time_ns, where);
            else if (kind == Kind::thread_barrier)
                replay.causes.idle_until(at.location, at.time_ns, where);
            else
                replay.causes.work_until(at.location, at.time_ns, where);
        }
        stay.last_ns = at.time_ns;
        return stay;
    }

    std::optional<std::uint64_t> step_number(Stay& stay, std::uint32_t region, const EventAttributes& attributes)
    {
        const bool has_attributes = step_attribute && attributes.size() > 0;
        const auto number = has_attributes ? attributes.number(*step_attribute) : std::nullopt;
        if (region == options.step_region) {
            named_is_numbered |= number.has_value();
            return number ? number : stay.steps++;
        }
        return options.step_region == nowhere || named_is_numbered ? number : std::nullopt;
    }

    void begin_step(const At& at, std::uint64_t number)
    {
        Stay& stay = stays[at.location];
        Place& place = replay.places[at.location];
        place.step = static_cast<std::int64_t>(number);
        if (with_phases == nowhere) with_phases = stay.open.back().region;
        stay.step_depth = stay.open.size();
        stay.step_ns = at.time_ns;
        stay.phases.clear();
        replay.waits.begin_step(at.location, place.step);
    }

    void leave_innermost(const At& at)
    {
        Stay& stay = stays[at.location];
        const OpenRegion open = stay.open.back();
        if (kinds[open.region] == Kind::mpi)
            end_call(at.location, at.time_ns, initialises[open.region]);
        else if (replay.causes.followed() && replay.places[at.location].in_mpi == 0)
            leave_task(at, kinds[open.region]);
        const bool in_step = replay.places[at.location].step >= 0;
        if (options.phases && in_step && stay.open[stay.step_depth - 1].region == with_phases) {
            if (stay.open.size() == stay.step_depth + 1) stay.phases.add(open.where, at.time_ns - stay.phase_ns);
            if (open.counts) tell_phases(at, open.where);
        }
        if (open.counts) replay.places[at.location].step = -1;
        stay.open.pop_back();
    }

    void enter_task(const At& at, Kind kind, std::int64_t idle_since_ns)
    {
        const Stay& stay = stays[at.location];
        const std::size_t around = stay.open.size() - 1;
        if (kind == Kind::work && around == 0)
            tasks.begin_other(at.location, idle_since_ns);
        else if (kind == Kind::task)
            tasks.begin(at.location, idle_since_ns, around == 0 ? nowhere : stay.open[around - 1].where);
        else if (kind == Kind::task_wait)
            tasks.create(at.location);  // who waits has said before what for
    }

    void leave_task(const At& at, Kind kind)
    {
        if (kind == Kind::task) tasks.end(at.location);
        if (kind == Kind::task_create) tasks.create(at.location);
    }

    void tell_phases(const At& at, std::uint32_t step)
    {
        Stay& stay = stays[at.location];
        std::int64_t rest_ns = at.time_ns - stay.step_ns;
        if (options.part.within(at.location, stay.step_ns, at.time_ns) < rest_ns) return;
        for (const auto& [where, ns] : stay.phases.all()) rest_ns -= ns;
        stay.phases.add(step, rest_ns);
        for (const auto& [where, ns] : stay.phases.all())
            options.phases(
                {.step = replay.places[at.location].step, .where = where, .location = at.location, .ns = ns});
    }

    void end_call(std::uint32_t location, std::int64_t now_ns, bool initialised)
    {
        Place& place = replay.places[location];
        if (--place.in_mpi > 0) return;
        replay.end_collective(location);
        messages.end_call(location, now_ns);
        replay.causes.end_call(location, now_ns, place.call);
        if (initialised) replay.causes.meet_all(location, now_ns, place.call);
        const std::int64_t inside_ns = options.part.within(location, place.call_ns, now_ns);
        stays[location].exclusive.add(place.call, inside_ns);
        stays[location].mpi_ns += inside_ns;
        stays[location].calls_mpi = true;
    }
};

MpiReplay::MpiReplay(Reader& reader, Options options, Sink sink)
    : state_{std::make_unique<State>(reader.archive(), options, std::move(sink),
                                     started_requests(reader, options.critical_path))}
{
}

MpiReplay::~MpiReplay() = default;

void MpiReplay::enter(const At& at, std::uint32_t region, const EventAttributes& attributes)
{
    State& state = *state_;
    const std::int64_t idle_since_ns =
        state.stays[at.location].first_ns == INT64_MIN ? INT64_MIN : state.stays[at.location].last_ns;
    Stay& stay = state.go_on(at);
    Place& place = state.replay.places[at.location];
    CallTree* const paths = state.options.call_paths;
    stay.open.push_back({.region = region, .where = paths != nullptr ? paths->child(stay.where(), region) : region});
    if (place.step < 0) {
        const auto number = state.step_number(stay, region, attributes);
        stay.open.back().counts = number && *number <= INT64_MAX;
        if (stay.open.back().counts) state.begin_step(at, *number);
    } else if (stay.open.size() == stay.step_depth + 1) {
        stay.phase_ns = at.time_ns;
    }
    const Kind kind = state.kinds[region];
    if (kind == Kind::mpi && place.in_mpi++ == 0) {
        place.call = stay.where();
        place.call_ns = at.time_ns;
        state.messages.begin_call(at.location);
    }
    if (place.in_mpi == 0 && state.replay.causes.followed()) state.enter_task(at, kind, idle_since_ns);
}

void MpiReplay::leave(const At& at, std::uint32_t region, const EventAttributes&)
{
    State& state = *state_;
    const Stay& stay = state.go_on(at);
    const auto is_it = [&](const OpenRegion& open) { return open.region == region; };
    if (std::none_of(stay.open.rbegin(), stay.open.rend(), is_it)) return;
    while (stay.open.back().region != region) state.leave_innermost(at);  // never left: ends here, too
    state.leave_innermost(at);
}

void MpiReplay::collective_begin(const At& at)
{
    if (state_->replay.places[at.location].in_mpi > 0) state_->replay.begin_collective(at.location);
}

void MpiReplay::collective_end(const At& at, const CollectiveRecord& record)
{
    state_->collectives.end(at.location, at.time_ns, record);
}

void MpiReplay::collective_request(const At& at, std::uint64_t request)
{
    state_->collectives.start(at.location, request);
}

void MpiReplay::collective_complete(const At& at, const CollectiveRecord& record)
{
    state_->collectives.complete(at.location, at.time_ns, record);
}

void MpiReplay::send(const At& at, const MessageRecord& message)
{
    state_->messages.send(at.location, message);
}

void MpiReplay::send_complete(const At& at, std::uint64_t request)
{
    state_->messages.complete_send(at.location, request);
}

void MpiReplay::receive_request(const At& at, std::uint64_t request)
{
    state_->messages.post_receive(at.location, request);
}

void MpiReplay::receive(const At& at, const MessageRecord& message)
{
    state_->messages.receive(at.location, message);
}

void MpiReplay::finish()
{
    State& state = *state_;
    for (std::uint32_t location = 0; location < state.stays.size(); ++location)
        while (!state.stays[location].open.empty())
            state.leave_innermost({.location = location, .time_ns = state.stays[location].last_ns});
    state.replay.waits.finish();
}

std::vector<MpiTimes> MpiReplay::times() const
{
    std::vector<MpiTimes> times;
    for (std::size_t location = 0; location < state_->stays.size(); ++location) {
        const Stay& stay = state_->stays[location];
        times.push_back({.first_ns = std::max<std::int64_t>(stay.first_ns, 0),
                         .last_ns = stay.last_ns,
                         .run_ns = state_->run_ns(static_cast<std::uint32_t>(location)),
                         .mpi_ns = stay.mpi_ns,
                         .waiting_ns = state_->replay.places[location].waiting_ns,
                         .calls_mpi = stay.calls_mpi});
    }
    return times;
}

PathTimes MpiReplay::exclusive() const
{
    PathTimes times;
    for (std::uint32_t location = 0; location < state_->stays.size(); ++location) {
        for (const auto& [where, ns] : state_->stays[location].exclusive.all())
            if (ns > 0) times[{where, location}] = ns;
    }
    return times;
}

std::size_t MpiReplay::ranks() const
{
    return state_->callers(true).size();
}

bool MpiReplay::joined() const
{
    const std::vector<Stay>& stays = state_->stays;
    const auto locations =
        std::count_if(stays.begin(), stays.end(), [](const Stay& stay) { return stay.first_ns != INT64_MIN; });
    return locations == 1 || state_->callers(false).size() > 1 || state_->tasks.passed_on();
}

CriticalPath MpiReplay::critical_path() const
{
    const std::vector<Stay>& stays = state_->stays;
    const auto earlier = [](const Stay& one, const Stay& other) { return one.last_ns < other.last_ns; };
    const auto last = std::max_element(stays.begin(), stays.end(), earlier);
    if (last == stays.end() || last->first_ns == INT64_MIN) return {};
    std::vector<std::int64_t> waited_ns;
    for (const Place& place : state_->replay.places) waited_ns.push_back(place.waiting_ns);
    Delay delay = state_->replay.causes.delay_costs(waited_ns);
    return {.ns = state_->replay.causes.path_to(static_cast<std::uint32_t>(last - stays.begin())),
            .delay = std::move(delay.all),
            .indirect_delay = std::move(delay.indirect),
            .unknown_delay = std::move(delay.unknown),
            .length_ns = last->last_ns - state_->first_ns};
}

std::vector<std::string> MpiReplay::problems() const
{
    std::vector<std::string> problems;
    const auto tell = [&](std::uint64_t count, const char* what) {
        if (count > 0) problems.push_back(base::join(count, what));
    };
    const State& state = *state_;
    tell(state.collectives.clock_errors(),
         " collectives end on one rank before another one came: clocks that are not corrected?");
    tell(state.collectives.mismatches(), " collectives are another operation on one rank than on another");
    tell(state.replay.strangers,
         " MPI events are outside of an MPI call, of no rank of their communicator, or of no request");
    tell(state.messages.unmatched_receives(),
         " messages are received before they are sent: clocks that are not corrected?");
    tell(state.messages.never_received(), " messages are sent and never received");
    tell(state.collectives.unfinished(), " collectives are not called by all ranks of their communicator");
    return problems;
}

}  // namespace otf2
