// SPDX-License-Identifier: Apache-2.0
// Internals of a replay: the state that it tracks for each location, and the dispatch of events to its parts.
#pragma once

#include "base/contract/trace_names.hpp"
#include "trace-tools/otf2/mpi_calls.hpp"
#include "trace-tools/profile/time_sums.hpp"
#include "trace-tools/replay/collective_replay.hpp"
#include "trace-tools/replay/message_replay.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/replay/replay_state.hpp"
#include "trace-tools/replay/started_requests.hpp"
#include "trace-tools/replay/streams/stream_replay.hpp"
#include "trace-tools/replay/task_replay.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace replay {

// Kind of a region. beside_gpu: work in an archive with GPU streams.
enum class Kind : std::uint8_t { work, mpi, task_create, task, task_wait, thread_barrier, beside_gpu };

// OpenMP tasks are not analysed: they are executed by the waiting threads.
Kind kind_of(const otf2::Region& region);

struct OpenRegion {
    std::uint32_t region = 0;
    std::uint32_t where = 0;
    bool is_step = false;
};

struct CallStack {
    std::vector<OpenRegion> open;
    std::int64_t first_ns = INT64_MIN;
    std::int64_t last_ns = 0;  // time of the previous event
    std::int64_t steps = 0;    // visits of Options::step_region so far
    otf2::TimeSums exclusive;
    std::int64_t mpi_ns = 0;
    bool calls_mpi = false;
    Kind outside = Kind::work;  // kind of time outside of all regions; on streams thread_barrier, that is idle

    // The current step:
    std::size_t step_depth = 0;  // number of open regions, including the step's own
    std::int64_t step_ns = 0;    // start of the step
    std::int64_t phase_ns = 0;   // start of its current phase
    otf2::TimeSums phases;

    std::uint32_t where() const { return open.empty() ? otf2::nowhere : open.back().where; }
};

struct MpiReplay::Engine {
    Engine(const otf2::Archive& archive, Options how, Sink sink, StartedRequests started)
        : options{std::move(how)},
          step_attribute{archive.find_attribute(base::attribute::step)},
          stacks(archive.locations.size()),
          replay{archive,
                 options.part,
                 {.enabled = options.critical_path, .threads = options.threads, .meanwhile = options.meanwhile},
                 std::move(sink)},
          collectives{replay, std::move(started.collectives), std::move(started.blocking_collectives)},
          messages{replay, std::move(started.receives)},
          tasks{replay},
          streams{archive, replay.delays},
          follows_work{options.critical_path || streams.any()},
          began(std::max(archive.locations.size(), archive.processes.size()))
    {
        for (const otf2::Region& region : archive.regions) {
            kinds.push_back(kind_of(region));
            const std::string call = otf2::mpi_call_name(region);
            initialises.push_back(call == "MPI_Init" || call == "MPI_Init_thread");
        }
        if (!streams.any()) return;
        for (Kind& kind : kinds)
            if (kind == Kind::work || (!options.critical_path && kind != Kind::mpi)) kind = Kind::beside_gpu;
        for (std::uint32_t location = 0; location < stacks.size(); ++location)
            if (streams.is_stream(location)) stacks[location].outside = Kind::thread_barrier;
        steps_on.resize(archive.processes.size(), otf2::nowhere);
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
    gpu::StreamReplay streams;
    bool follows_work;                    // tracks work outside of MPI: tasks, or calls that use GPUs
    std::vector<std::uint32_t> steps_on;  // by process: the location with its steps; only for archives with GPUs
    std::vector<bool> began;              // by process or location: one of its threads has begun

    std::int64_t run_ns(std::uint32_t location) const
    {
        const CallStack& stack = stacks[location];
        return stack.first_ns == INT64_MIN ? 0 : options.part.within(location, stack.first_ns, stack.last_ns);
    }

    // Processes that call MPI. `in_part`: only those with time in the selected part.
    std::set<std::uint32_t> callers(bool in_part) const
    {
        std::set<std::uint32_t> processes;
        for (std::uint32_t location = 0; location < stacks.size(); ++location)
            if (stacks[location].calls_mpi && (!in_part || run_ns(location) > 0))
                processes.insert(replay.process_of(location));
        return processes;
    }

    // The location that ends last. If some locations are linked with others, only these are considered, as a monitor or
    // a thread that only waits may end later. Returns the number of locations if there are no events.
    std::size_t last_on_path() const
    {
        std::size_t last = stacks.size();
        bool last_is_joined = false;
        for (std::uint32_t location = 0; location < stacks.size(); ++location) {
            if (stacks[location].first_ns == INT64_MIN) continue;
            const bool joined = stacks[location].calls_mpi || replay.delays.linked(location);
            const bool better = last == stacks.size() || joined > last_is_joined ||
                                (joined == last_is_joined && stacks[location].last_ns > stacks[last].last_ns);
            if (!better) continue;
            last = location;
            last_is_joined = joined;
        }
        return last;
    }

    // Accounts for the time since the location's previous event.
    CallStack& account(const otf2::At& at)
    {
        CallStack& stack = stacks[at.location];
        const bool first = stack.first_ns == INT64_MIN;
        if (first) {
            if (first_ns == INT64_MIN) first_ns = at.time_ns;  // first of all locations: events come in time order
            stack.first_ns = at.time_ns;
            stack.last_ns = at.time_ns;
            const bool made_by_another = !streams.is_stream(at.location) && began[replay.process_of(at.location)];
            replay.delays.begin(at.location, first_ns, made_by_another ? at.time_ns : first_ns);
            if (!streams.is_stream(at.location)) began[replay.process_of(at.location)] = true;
        }
        if (replay.locations[at.location].in_mpi == 0) {
            const Kind kind = stack.open.empty() ? stack.outside : kinds[stack.open.back().region];
            if (kind == Kind::work && !first && at.time_ns == stack.last_ns) return stack;  // no time has passed
            const std::uint32_t where = stack.where();
            stack.exclusive.add(where, options.part.within(at.location, stack.last_ns, at.time_ns));
            if (replay.delays.enabled() && kind == Kind::task_wait)
                tasks.end_wait(at.location, at.time_ns, where);
            else if (kind == Kind::thread_barrier)
                replay.delays.idle_until(at.location, at.time_ns, where);
            else if (kind != Kind::beside_gpu || !end_wait_for_stream(at, where))
                replay.delays.work_until(at.location, at.time_ns, where);
        }
        stack.last_ns = at.time_ns;
        return stack;
    }

    // The thread whose path includes the location's calls, advanced to the current time.
    std::uint32_t thread_now(const otf2::At& at)
    {
        const std::uint32_t thread = streams.thread_of(at.location);
        if (thread == at.location || stacks[thread].first_ns == INT64_MIN || replay.locations[thread].in_mpi > 0)
            return at.location;
        if (!streams.end_wait(at.location, thread, at.time_ns, stacks[thread].where()))
            replay.delays.work_until(thread, at.time_ns, stacks[thread].where());
        return thread;
    }

    bool end_wait_for_stream(const otf2::At& at, std::uint32_t where)
    {
        return streams.thread_of(at.location) == at.location &&
               streams.end_wait(at.location, at.location, at.time_ns, where);
    }

    std::optional<std::uint64_t> step_number(CallStack& stack, std::uint32_t region,
                                             const otf2::EventAttributes& attributes)
    {
        if (options.step_from != otf2::nowhere) return std::nullopt;
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
        if (with_phases == otf2::nowhere && !stack.open.empty()) with_phases = stack.open.back().region;
        stack.step_depth = stack.open.size();
        stack.step_ns = at.time_ns;
        stack.phases.clear();
        replay.waits.begin_step(at.location, own.step);
        if (!steps_on.empty() && replay.process_of(at.location) < steps_on.size())
            steps_on[replay.process_of(at.location)] = at.location;
    }

    void leave_innermost(const otf2::At& at)
    {
        CallStack& stack = stacks[at.location];
        const OpenRegion open = stack.open.back();
        if (kinds[open.region] == Kind::mpi)
            end_call(at.location, at.time_ns, initialises[open.region]);
        else if (follows_work && replay.locations[at.location].in_mpi == 0)
            leave_work(at, kinds[open.region], open);
        if (options.step_from != otf2::nowhere) return leave_between(at, open);
        const bool in_step = replay.locations[at.location].step >= 0;
        if (options.phases && in_step && stack.open[stack.step_depth - 1].region == with_phases) {
            if (stack.open.size() == stack.step_depth + 1) stack.phases.add(open.where, at.time_ns - stack.phase_ns);
            if (open.is_step) report_phases(at, open.where);
        }
        if (open.is_step) replay.locations[at.location].step = -1;
        stack.open.pop_back();
    }

    // Ends a step that lasts from call to call, as in otf2::steps_between_visits().
    void leave_between(const otf2::At& at, const OpenRegion& open)
    {
        CallStack& stack = stacks[at.location];
        LocationState& own = replay.locations[at.location];
        const std::size_t level = stack.open.size() - 1;
        if (own.step >= 0 && level < stack.step_depth) own.step = -1;  // the enclosing region ends
        const bool beside = own.step >= 0 && level == stack.step_depth;
        if (beside) stack.phases.add(open.where, at.time_ns - stack.phase_ns);
        stack.open.pop_back();
        const auto same = [&](const OpenRegion& one) { return one.region == open.region; };
        if (open.region != options.step_from || std::ranges::any_of(stack.open, same)) return;
        if (beside) {
            if (options.phases) report_phases(at, stack.where());
            ++stack.steps;
        }
        begin_step(at, static_cast<std::uint64_t>(stack.steps));
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
            tasks.create(at.location);  // all tasks were created before this wait
    }

    void leave_work(const otf2::At& at, Kind kind, const OpenRegion& open)
    {
        if (kind == Kind::task) tasks.end(at.location);
        if (kind == Kind::task_create) tasks.create(at.location);
        if (kind == Kind::beside_gpu) leave_beside_gpu(at, open);
    }

    void enter_beside_gpu(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes,
                          std::int64_t idle_since_ns)
    {
        if (streams.is_stream(at.location)) return streams.begin_work(at, streams.work_of(region), &attributes);
        if (stacks[at.location].open.size() == 1 && replay.delays.enabled())
            tasks.begin_untagged(at.location, idle_since_ns);
        const std::uint32_t thread = thread_now(at);
        streams.begin_call(at, region, attributes, thread, stacks[thread].where());
    }

    void leave_beside_gpu(const otf2::At& at, const OpenRegion& open)
    {
        if (streams.is_stream(at.location)) return streams.end_work(at, streams.work_of(open.region));
        thread_now(at);
        const auto wait = streams.end_call(at, open.region);
        if (!wait) return;
        const std::uint32_t process = replay.archive.locations[at.location].process;
        const std::uint32_t steps = process == otf2::nowhere ? otf2::nowhere : steps_on[process];
        replay.count(Pattern::early_blocking_wait, otf2::nowhere,
                     {.begin_ns = wait->from_ns,
                      .end_ns = at.time_ns,
                      .location = at.location,
                      .where = open.where,
                      .step = replay.locations[steps == otf2::nowhere ? at.location : steps].step},
                     wait->from_ns, wait->until_ns);
    }

    // Score-P records GPU copies as transfers, not as regions.
    void transfer(const otf2::At& at, bool begins)
    {
        if (!streams.is_stream(at.location)) return;
        CallStack& stack = account(at);
        if (!begins) streams.end_work(at, gpu::StreamWork::copy);
        if (begins) streams.begin_work(at, gpu::StreamWork::copy, nullptr);
        stack.outside = begins ? Kind::work : Kind::thread_barrier;
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

}  // namespace replay
