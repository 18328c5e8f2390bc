#include "trace-tools/patterns/mpi_replay.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace otf2 {

namespace {

enum class Flow { all_to_all, one_to_all, all_to_one, barrier, none };

Flow flow_of(Operation operation)
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

bool is_mpi(const Region& region)
{
    return region.paradigm == Paradigm::mpi ||
           (region.paradigm == Paradigm::unknown && region.name.starts_with("MPI_"));
}

using RegionTimes = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // few: looked through one by one

void add(RegionTimes& times, std::uint32_t region, std::int64_t ns)
{
    for (auto& [known, sum] : times) {
        if (known != region) continue;
        sum += ns;
        return;
    }
    times.emplace_back(region, ns);
}

// What a location did outside of MPI, in the order of time.
struct Stretch {
    std::uint32_t region = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

std::int64_t time_since(const std::vector<Stretch>& stretches, std::uint32_t region, std::int64_t since_ns)
{
    std::int64_t ns = 0;
    for (const Stretch& stretch : stretches)
        if (stretch.region == region)
            ns += std::max<std::int64_t>(0, stretch.end_ns - std::max(stretch.begin_ns, since_ns));
    return ns;
}

RegionTimes sums(const std::vector<Stretch>& stretches)
{
    RegionTimes times;
    for (const Stretch& stretch : stretches) add(times, stretch.region, stretch.end_ns - stretch.begin_ns);
    return times;
}

// Bounds memory where ranks seldom meet: how long each region took stays, when is forgotten.
std::vector<Stretch> compacted(const std::vector<Stretch>& stretches)
{
    const std::int64_t begin_ns = stretches.front().begin_ns;
    std::vector<Stretch> compact;
    for (const auto& [region, ns] : sums(stretches))
        compact.push_back({.region = region, .begin_ns = begin_ns, .end_ns = begin_ns + ns});
    return compact;
}

using Causes = std::map<PathKey, double>;  // shares of a wait; they add up to 1

// A location as it came to an MPI call.
struct Arrival {
    std::int64_t ns = INT64_MIN;
    std::uint32_t location = nowhere;
    PathSoFar path;
    std::int64_t met_ns = 0;  // when it last met another one
    RegionTimes worked;       // since then
    Causes inherited;         // why it was late then
};

struct Part {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t location = nowhere;  // nowhere: has not ended yet
    std::uint32_t region = 0;
    std::int64_t step = -1;
};

// The k-th collective of a communicator.
struct Instance {
    Operation operation = Operation::barrier;
    std::uint32_t root = no_root;
    std::vector<Part> parts;  // by rank
    std::size_t ended = 0;
    std::optional<Arrival> awaited;  // the last to come, or the root; as far as known
};

struct Instances {
    std::deque<Instance> open;
    std::uint64_t first = 0;          // number of open.front()
    std::vector<std::uint64_t> next;  // number of each rank's next one
};

struct Send {
    std::uint32_t communicator = 0;
    std::int64_t enter_ns = 0;
    std::optional<std::int64_t> leave_ns;
    std::uint32_t region = 0;
    std::int64_t step = -1;
    bool blocking = true;
    std::uint32_t receiver_location = nowhere;
    Arrival sender;
    std::optional<Arrival> receiver;  // as it came to the receive
};

struct Posted {
    std::uint64_t request = 0;
    std::int64_t ns = 0;
    Arrival arrival;
};

struct OpenRegion {
    std::uint32_t region = 0;
    bool counts = false;  // the step is its
};

struct Place {
    std::vector<OpenRegion> open;
    std::int64_t first_ns = INT64_MIN;
    std::int64_t last_ns = 0;  // up to here time is accounted
    std::int64_t step = -1;
    std::int64_t steps = 0;               // visits of the step's region
    std::int64_t reached = -1;            // the last step that began
    std::vector<std::int64_t> exclusive;  // ns by region, as far as visited
    std::int64_t mpi_ns = 0;
    std::int64_t waiting_ns = 0;

    int in_mpi = 0;  // MPI calls that are open; what they call is theirs
    std::uint32_t call = 0;
    std::int64_t call_ns = 0;                  // since when
    std::int64_t collective_ns = INT64_MIN;    // begin of the one that is open
    bool met = false;                          // another location, in this call
    bool receives = false;                     // in this call
    std::vector<std::shared_ptr<Send>> sends;  // in this call
    Arrival sender;                            // of this call's receives the last
    std::uint32_t receive_communicator = 0;
    std::deque<Posted> posted;  // non-blocking collectives, in their order

    PathSoFar path;
    std::int64_t path_ns = 0;     // up to here the path is known
    std::int64_t met_ns = 0;      // when it last met another one
    std::vector<Stretch> worked;  // outside of MPI since then
    Causes inherited;
};

using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;  // communicator, from, to, tag

}  // namespace

struct MpiReplay::State {
    const Archive& archive;
    Options options;
    Sink sink;
    std::optional<std::uint32_t> step_attribute;
    std::vector<bool> mpi_region;
    std::vector<Place> places;
    std::vector<std::unordered_map<std::uint32_t, std::uint32_t>>
        ranks;                           // by communicator: process or location -> rank
    std::vector<Instances> collectives;  // by communicator
    std::vector<Instances> started;      // non-blocking ones
    std::map<Channel, std::deque<std::shared_ptr<Send>>> sent;
    std::map<WaitKey, WaitSum> rows;
    Causes delay_s;
    std::int64_t first_ns = INT64_MIN;
    std::uint64_t clock_errors = 0;
    std::uint64_t strangers = 0;
    std::uint64_t mismatches = 0;
    std::uint64_t unmatched_receives = 0;

    // ------------------------------------------------------------------------------------------------ time and path

    void account(std::uint32_t location, std::int64_t now_ns)
    {
        Place& place = places[location];
        if (place.first_ns == INT64_MIN) {
            if (first_ns == INT64_MIN) first_ns = now_ns;  // of all: the pass is in the order of time
            place.first_ns = now_ns;
            place.last_ns = now_ns;
            place.path_ns = first_ns;
        }
        if (place.in_mpi == 0) {
            const std::uint32_t region = place.open.empty() ? nowhere : place.open.back().region;
            if (region != nowhere) exclusive(place, region) += now_ns - place.last_ns;
            if (options.critical_path) {
                place.path.add({region, location}, now_ns - place.path_ns);
                if (region != nowhere) work(place, {.region = region, .begin_ns = place.path_ns, .end_ns = now_ns});
            }
            place.path_ns = now_ns;
        }
        place.last_ns = now_ns;
    }

    static std::int64_t& exclusive(Place& place, std::uint32_t region)
    {
        if (region >= place.exclusive.size()) place.exclusive.resize(region + 1);
        return place.exclusive[region];
    }

    void work(Place& place, const Stretch& more) const
    {
        if (more.end_ns <= more.begin_ns) return;
        if (place.worked.size() > 4096 + 2 * archive.regions.size()) place.worked = compacted(place.worked);
        place.worked.push_back(more);
    }

    void begin_call(Place& place, std::uint32_t region, std::int64_t now_ns)
    {
        if (place.in_mpi++ > 0) return;
        place.call = region;
        place.call_ns = now_ns;
    }

    void end_call(std::uint32_t location, std::int64_t now_ns)
    {
        Place& place = places[location];
        if (--place.in_mpi > 0) return;
        end_receives(location, now_ns);
        end_sends(location, now_ns);
        exclusive(place, place.call) += now_ns - place.call_ns;
        place.mpi_ns += now_ns - place.call_ns;
        if (options.critical_path) place.path.add({place.call, location}, now_ns - place.path_ns);
        place.path_ns = now_ns;
        if (place.met) {
            place.worked.clear();
            place.met_ns = now_ns;
        }
        place.met = false;
        place.receives = false;
        place.collective_ns = INT64_MIN;
    }

    // As it came to the call that it is in.
    Arrival arrival(std::uint32_t location)
    {
        Place& place = places[location];
        Arrival arrival{.ns = place.call_ns,
                        .location = location,
                        .path = {},
                        .met_ns = place.met_ns,
                        .worked = {},
                        .inherited = {}};
        if (!options.critical_path) return arrival;
        arrival.path = place.path.snapshot();
        arrival.worked = sums(place.worked);
        arrival.inherited = place.inherited;
        return arrival;
    }

    // The location went on only because `other` had come.
    void wait_for(std::uint32_t location, const Arrival& other)
    {
        Place& place = places[location];
        place.met = true;
        if (!options.critical_path || other.location == nowhere) return;
        const std::int64_t waited_ns = other.ns - place.call_ns;
        if (other.location == location || waited_ns <= 0) {
            place.inherited.clear();
            return;
        }
        blame(place, other, static_cast<double>(waited_ns));
        if (other.ns <= place.path_ns) return;
        place.path.go_on_from(other.path);
        place.path_ns = other.ns;
    }

    // What the late one did longer, since it last met another, than the one that waited; beyond that, what had made it
    // late then.
    void blame(Place& place, const Arrival& late, double waited_ns)
    {
        std::vector<std::pair<PathKey, double>> excess;
        double all = 0.0;
        for (const auto& [region, ns] : late.worked) {
            const auto more = static_cast<double>(ns - time_since(place.worked, region, late.met_ns));
            if (more <= 0.0) continue;
            excess.emplace_back(PathKey{region, late.location}, more);
            all += more;
        }
        Causes causes;
        const double direct = std::min(waited_ns, all) / waited_ns;
        for (const auto& [key, more] : excess) causes[key] += direct * more / all;
        for (const auto& [key, share] : late.inherited) causes[key] += (1.0 - direct) * share;
        for (const auto& [key, share] : causes) delay_s[key] += share * waited_ns / 1e9;
        place.inherited = std::move(causes);
    }

    // -------------------------------------------------------------------------------------------------------- rows

    void count(Pattern pattern, std::uint32_t communicator, const Part& part, std::int64_t ns)
    {
        if (ns <= 0) return;
        WaitSum& sum = rows[{part.step, pattern, communicator, part.region, part.location}];
        sum.ns += ns;
        ++sum.count;
        if (pattern != Pattern::nxn_completion && pattern != Pattern::barrier_completion &&
            pattern != Pattern::icollective_exposed && pattern != Pattern::icollective_wait)
            places[part.location].waiting_ns += ns;
    }

    Part part_of(std::uint32_t location, std::int64_t now_ns) const
    {
        const Place& place = places[location];
        return {.begin_ns = place.call_ns,
                .end_ns = now_ns,
                .location = location,
                .region = place.call,
                .step = place.step};
    }

    void begin_step(Place& place, std::int64_t step)
    {
        place.step = step;
        place.reached = step;
        constexpr std::size_t many = 100'000;
        if (rows.size() > many) write_rows_before_all();
    }

    void write_rows_before_all()
    {
        std::int64_t least = INT64_MAX;
        for (const Place& place : places)
            if (place.reached >= 0) least = std::min(least, place.reached);
        while (!rows.empty()) {
            const auto row = rows.lower_bound(first_of_step(0));  // those outside of steps may still grow
            if (row == rows.end() || row->first.step >= least) return;
            sink(row->first, row->second);
            rows.erase(row);
        }
    }

    static WaitKey first_of_step(std::int64_t step)
    {
        WaitKey key;
        key.step = step;
        return key;
    }

    // -------------------------------------------------------------------------------------------------- collectives

    // A rank is a process, whichever of its threads calls. None outside of an MPI call, which alone tells since when.
    std::optional<std::uint32_t> rank_of(std::uint32_t communicator, std::uint32_t location)
    {
        if (communicator >= ranks.size() || places[location].in_mpi == 0) return std::nullopt;
        const auto found = ranks[communicator].find(process_of(location));
        if (found == ranks[communicator].end()) return std::nullopt;
        return found->second;
    }

    std::uint32_t process_of(std::uint32_t location) const
    {
        const std::uint32_t process = archive.locations[location].process;
        return process != nowhere ? process : location;
    }

    Instance& instance(Instances& all, std::uint64_t number, std::size_t members)
    {
        while (all.first + all.open.size() <= number) {
            all.open.emplace_back();
            all.open.back().parts.resize(members);
        }
        return all.open[number - all.first];
    }

    static void drop_done(Instances& all)
    {
        while (!all.open.empty() && all.open.front().ended == all.open.front().parts.size()) {
            all.open.pop_front();
            ++all.first;
        }
    }

    void end_collective(std::uint32_t location, std::int64_t now_ns, const CollectiveRecord& record)
    {
        const Flow flow = flow_of(record.operation);
        if (flow == Flow::none) return;
        const auto rank = rank_of(record.communicator, location);
        if (!rank) {
            ++strangers;
            return;
        }
        Instances& all = collectives[record.communicator];
        Instance& mine = instance(all, all.next[*rank]++, all.next.size());
        if (mine.ended == 0) {
            mine.operation = record.operation;
            mine.root = record.root;
        } else if (mine.operation != record.operation) {
            ++mismatches;
        }
        if (options.critical_path) follow(mine, flow, record.communicator, *rank, location);
        mine.parts[*rank] = part_of(location, now_ns);
        if (++mine.ended == mine.parts.size()) {
            add_waits(mine, flow, record.communicator);
            drop_done(all);
        }
        places[location].met = true;
    }

    void follow(Instance& instance, Flow flow, std::uint32_t communicator, std::uint32_t rank, std::uint32_t location)
    {
        const bool root = rank == instance.root;
        switch (flow) {
            case Flow::all_to_all:
            case Flow::barrier:
                if (!instance.awaited) instance.awaited = last_inside(instance, communicator);
                wait_for(location, *instance.awaited);
                break;
            case Flow::one_to_all:
                if (!instance.awaited && root) instance.awaited = arrival(location);
                if (!instance.awaited) instance.awaited = inside(communicator, instance.root);
                if (!root && instance.awaited) wait_for(location, *instance.awaited);
                break;
            case Flow::all_to_one:
                if (!root) {
                    if (!instance.awaited || places[location].call_ns > instance.awaited->ns)
                        instance.awaited = arrival(location);
                } else {
                    const Arrival last = last_inside(instance, communicator);
                    const bool seen = instance.awaited && instance.awaited->ns >= last.ns;
                    wait_for(location, seen ? *instance.awaited : last);
                }
                break;
            case Flow::none:
                break;
        }
    }

    // The rank of the communicator that is in a collective now, if it is.
    std::optional<Arrival> inside(std::uint32_t communicator, std::uint32_t rank)
    {
        const std::vector<std::uint32_t>& members = archive.communicators[communicator].members;
        if (rank >= members.size() || members[rank] >= places.size()) return std::nullopt;
        if (places[members[rank]].collective_ns == INT64_MIN) return std::nullopt;
        return arrival(members[rank]);
    }

    // Of those that have not ended theirs the one that came last.
    Arrival last_inside(const Instance& instance, std::uint32_t communicator)
    {
        const std::vector<std::uint32_t>& members = archive.communicators[communicator].members;
        std::uint32_t last = nowhere;
        for (std::size_t rank = 0; rank < members.size(); ++rank) {
            const std::uint32_t location = members[rank];
            if (location >= places.size() || instance.parts[rank].location != nowhere) continue;
            if (places[location].collective_ns == INT64_MIN) continue;
            if (last == nowhere || places[location].call_ns > places[last].call_ns) last = location;
        }
        return last == nowhere ? Arrival{} : arrival(last);
    }

    void add_waits(const Instance& instance, Flow flow, std::uint32_t communicator)
    {
        if (flow == Flow::all_to_all || flow == Flow::barrier) {
            const bool barrier = flow == Flow::barrier;
            std::int64_t last_begin = INT64_MIN;
            std::int64_t first_end = INT64_MAX;
            for (const Part& part : instance.parts) {
                last_begin = std::max(last_begin, part.begin_ns);
                first_end = std::min(first_end, part.end_ns);
            }
            if (first_end < last_begin) ++clock_errors;
            for (const Part& part : instance.parts) {
                count(barrier ? Pattern::barrier_wait : Pattern::wait_nxn, communicator, part,
                      last_begin - part.begin_ns);
                count(barrier ? Pattern::barrier_completion : Pattern::nxn_completion, communicator, part,
                      part.end_ns - first_end);
            }
            return;
        }
        if (instance.root >= instance.parts.size()) return;
        const Part& root = instance.parts[instance.root];
        std::int64_t last_other = INT64_MIN;
        for (const Part& part : instance.parts) {
            if (&part == &root) continue;
            last_other = std::max(last_other, part.begin_ns);
            if (flow == Flow::one_to_all && part.end_ns < root.begin_ns) ++clock_errors;
            if (flow == Flow::one_to_all)
                count(Pattern::late_broadcast, communicator, part, root.begin_ns - part.begin_ns);
        }
        if (flow == Flow::all_to_one && last_other != INT64_MIN) {
            if (root.end_ns < last_other) ++clock_errors;
            count(Pattern::early_reduce, communicator, root, last_other - root.begin_ns);
        }
    }

    // Which collective a request started is known when it ends; they are numbered in the order of their starts.
    void complete_collective(std::uint32_t location, std::int64_t now_ns, const CollectiveRecord& record)
    {
        const auto rank = rank_of(record.communicator, location);
        std::deque<Posted>& posted = places[location].posted;
        const auto found = std::find_if(posted.begin(), posted.end(),
                                        [&](const Posted& one) { return one.request == record.request; });
        if (!rank || found == posted.end()) {
            ++strangers;
            return;
        }
        const Part wait = part_of(location, now_ns);
        Instances& all = started[record.communicator];
        Instance& mine = instance(all, all.next[*rank]++, all.next.size());
        const Posted post = std::move(*found);
        posted.erase(found);

        Arrival last = last_start(mine, record.communicator);
        if (post.ns >= last.ns) last = post.arrival;
        if (mine.awaited && mine.awaited->ns > last.ns) last = *mine.awaited;
        mine.awaited = last;
        count(Pattern::icollective_exposed, record.communicator, wait, now_ns - wait.begin_ns);
        count(Pattern::icollective_wait, record.communicator, wait, std::min(last.ns, now_ns) - wait.begin_ns);
        wait_for(location, last);
        mine.parts[*rank] = wait;
        if (++mine.ended == mine.parts.size()) drop_done(all);
    }

    // Of ranks that have not waited for theirs, the last that started it; their first open one is taken for it.
    Arrival last_start(const Instance& instance, std::uint32_t communicator)
    {
        const std::vector<std::uint32_t>& members = archive.communicators[communicator].members;
        Arrival last;
        for (std::size_t rank = 0; rank < members.size(); ++rank) {
            const std::uint32_t location = members[rank];
            if (location >= places.size() || instance.parts[rank].location != nowhere) continue;
            const std::deque<Posted>& posted = places[location].posted;
            if (!posted.empty() && posted.front().ns > last.ns) last = posted.front().arrival;
        }
        return last;
    }

    // ----------------------------------------------------------------------------------------------------- messages

    void send(std::uint32_t location, const MessageRecord& message)
    {
        const auto rank = rank_of(message.communicator, location);
        if (!rank) {
            ++strangers;
            return;
        }
        Place& place = places[location];
        auto sent_now = std::make_shared<Send>();
        sent_now->communicator = message.communicator;
        sent_now->enter_ns = place.call_ns;
        sent_now->region = place.call;
        sent_now->step = place.step;
        sent_now->blocking = message.request == no_request;
        const std::vector<std::uint32_t>& members = archive.communicators[message.communicator].members;
        if (message.peer < members.size()) sent_now->receiver_location = members[message.peer];
        sent_now->sender = arrival(location);
        sent[{message.communicator, *rank, message.peer, message.tag}].push_back(sent_now);
        place.sends.push_back(std::move(sent_now));
    }

    void receive(std::uint32_t location, const MessageRecord& message)
    {
        const auto rank = rank_of(message.communicator, location);
        if (!rank) {
            ++strangers;
            return;
        }
        const auto channel = sent.find({message.communicator, message.peer, *rank, message.tag});
        if (channel == sent.end() || channel->second.empty()) {
            ++unmatched_receives;
            return;
        }
        const std::shared_ptr<Send> send = std::move(channel->second.front());
        channel->second.pop_front();
        if (channel->second.empty()) sent.erase(channel);

        Place& place = places[location];
        place.receive_communicator = message.communicator;
        if (send->sender.ns > place.sender.ns) place.sender = send->sender;
        place.met = true;
        place.receives = true;
        send->receiver = arrival(location);
        if (send->leave_ns) add_late_receiver(*send);
    }

    void end_receives(std::uint32_t location, std::int64_t now_ns)
    {
        Place& place = places[location];
        if (place.sender.location == nowhere) return;
        const std::int64_t waited_ns = std::min(place.sender.ns, now_ns) - place.call_ns;
        count(Pattern::late_sender, place.receive_communicator, part_of(location, now_ns), waited_ns);
        wait_for(location, place.sender);
        place.sender = {};
    }

    void end_sends(std::uint32_t location, std::int64_t now_ns)
    {
        for (const std::shared_ptr<Send>& send : places[location].sends) {
            send->leave_ns = now_ns;
            if (places[location].receives) send->blocking = false;  // MPI_Sendrecv may wait for its own message
            if (send->blocking) follow_late_receiver(*send, location);
            if (send->receiver) add_late_receiver(*send);
        }
        places[location].sends.clear();
    }

    // A receiver that came while the sender was in its call, and is still there or has just gone.
    void follow_late_receiver(const Send& send, std::uint32_t location)
    {
        if (send.receiver) {
            if (send.receiver->ns > send.enter_ns) wait_for(location, *send.receiver);
            return;
        }
        const std::uint32_t other = send.receiver_location;
        if (other >= places.size() || places[other].in_mpi == 0 || places[other].call_ns <= send.enter_ns) return;
        wait_for(location, arrival(other));
    }

    void add_late_receiver(const Send& send)
    {
        if (!send.blocking) return;
        const Part part{.begin_ns = send.enter_ns,
                        .end_ns = *send.leave_ns,
                        .location = send.sender.location,
                        .region = send.region,
                        .step = send.step};
        count(Pattern::late_receiver, send.communicator, part,
              std::min(send.receiver->ns, *send.leave_ns) - send.enter_ns);
    }
};

const char* cube_name(Pattern pattern)
{
    switch (pattern) {
        case Pattern::wait_nxn:
            return "mpi_wait_nxn";
        case Pattern::nxn_completion:
            return "mpi_nxn_completion";
        case Pattern::barrier_wait:
            return "mpi_barrier_wait";
        case Pattern::barrier_completion:
            return "mpi_barrier_completion";
        case Pattern::late_broadcast:
            return "mpi_latebroadcast";
        case Pattern::early_reduce:
            return "mpi_earlyreduce";
        case Pattern::late_sender:
            return "mpi_latesender";
        case Pattern::late_receiver:
            return "mpi_latereceiver";
        case Pattern::icollective_exposed:
            return "mpi_icollective_exposed";
        case Pattern::icollective_wait:
            return "mpi_icollective_wait";
    }
    return "";
}

MpiReplay::MpiReplay(const Archive& archive, Options options, Sink sink)
    : state_{new State{.archive = archive,
                       .options = options,
                       .sink = std::move(sink),
                       .step_attribute = archive.find_attribute("step"),
                       .mpi_region = {},
                       .places = std::vector<Place>(archive.locations.size()),
                       .ranks = {},
                       .collectives = {},
                       .started = {},
                       .sent = {},
                       .rows = {},
                       .delay_s = {}}}
{
    State& state = *state_;
    for (const Region& region : archive.regions) state.mpi_region.push_back(is_mpi(region));
    for (const Communicator& communicator : archive.communicators) {
        std::unordered_map<std::uint32_t, std::uint32_t> ranks;
        for (std::uint32_t rank = 0; rank < communicator.members.size(); ++rank)
            if (communicator.members[rank] < archive.locations.size())
                ranks.emplace(state.process_of(communicator.members[rank]), rank);
        state.ranks.push_back(std::move(ranks));
        Instances none;
        none.next.resize(communicator.members.size());
        state.collectives.push_back(none);
        state.started.push_back(std::move(none));
    }
}

MpiReplay::~MpiReplay() = default;

void MpiReplay::enter(const At& at, std::uint32_t region, const EventAttributes& attributes)
{
    State& state = *state_;
    state.account(at.location, at.time_ns);
    Place& place = state.places[at.location];
    OpenRegion opened{.region = region};
    if (place.step < 0) {
        std::optional<std::uint64_t> number;
        if (region == state.options.step_region)
            number = place.steps++;
        else if (state.options.step_region == nowhere && state.step_attribute && attributes.size() > 0)
            number = attributes.number(*state.step_attribute);
        if (number && *number <= INT64_MAX) {
            opened.counts = true;
            state.begin_step(place, static_cast<std::int64_t>(*number));
        }
    }
    if (state.mpi_region[region]) state.begin_call(place, region, at.time_ns);
    place.open.push_back(opened);
}

void MpiReplay::leave(const At& at, std::uint32_t region, const EventAttributes&)
{
    State& state = *state_;
    state.account(at.location, at.time_ns);
    Place& place = state.places[at.location];
    const bool entered = std::any_of(place.open.begin(), place.open.end(),
                                     [&](const OpenRegion& open) { return open.region == region; });
    while (entered) {  // what was never left inside ends here, too
        const OpenRegion open = place.open.back();
        if (state.mpi_region[open.region]) state.end_call(at.location, at.time_ns);
        if (open.counts) place.step = -1;
        place.open.pop_back();
        if (open.region == region) break;
    }
}

void MpiReplay::collective_begin(const At& at)
{
    state_->places[at.location].collective_ns = at.time_ns;
}

void MpiReplay::collective_end(const At& at, const CollectiveRecord& record)
{
    state_->end_collective(at.location, at.time_ns, record);
}

void MpiReplay::collective_request(const At& at, std::uint64_t request)
{
    State& state = *state_;
    state.places[at.location].posted.push_back(
        {.request = request, .ns = state.places[at.location].call_ns, .arrival = state.arrival(at.location)});
}

void MpiReplay::collective_complete(const At& at, const CollectiveRecord& record)
{
    state_->complete_collective(at.location, at.time_ns, record);
}

void MpiReplay::send(const At& at, const MessageRecord& message)
{
    state_->send(at.location, message);
}

void MpiReplay::receive(const At& at, const MessageRecord& message)
{
    state_->receive(at.location, message);
}

void MpiReplay::finish()
{
    State& state = *state_;
    for (std::uint32_t location = 0; location < state.places.size(); ++location) {
        Place& place = state.places[location];
        while (place.in_mpi > 0) state.end_call(location, place.last_ns);
        place.open.clear();
    }
    for (const auto& [key, sum] : state.rows) state.sink(key, sum);
    state.rows.clear();
}

std::vector<MpiTimes> MpiReplay::times() const
{
    std::vector<MpiTimes> times;
    for (const Place& place : state_->places)
        times.push_back({.first_ns = std::max<std::int64_t>(place.first_ns, 0),
                         .last_ns = place.last_ns,
                         .mpi_ns = place.mpi_ns,
                         .waiting_ns = place.waiting_ns});
    return times;
}

PathTimes MpiReplay::exclusive() const
{
    PathTimes times;
    for (std::uint32_t location = 0; location < state_->places.size(); ++location)
        for (std::uint32_t region = 0; region < state_->places[location].exclusive.size(); ++region)
            if (const std::int64_t ns = state_->places[location].exclusive[region]; ns > 0)
                times[{region, location}] = ns;
    return times;
}

CriticalPath MpiReplay::critical_path() const
{
    const auto earlier = [](const Place& one, const Place& other) { return one.last_ns < other.last_ns; };
    const auto last = std::max_element(state_->places.begin(), state_->places.end(), earlier);
    if (last == state_->places.end() || last->first_ns == INT64_MIN) return {};
    return {.ns = last->path.times(), .delay = state_->delay_s, .length_ns = last->last_ns - state_->first_ns};
}

std::vector<std::string> MpiReplay::problems() const
{
    std::vector<std::string> problems;
    const auto tell = [&](std::uint64_t count, const char* what) {
        if (count > 0) problems.push_back(base::join(count, what));
    };
    tell(state_->clock_errors, " collectives end on one rank before another one came: clocks that are not corrected?");
    tell(state_->mismatches, " collectives are another operation on one rank than on another");
    tell(state_->strangers,
         " MPI events are outside of an MPI call, of no rank of their communicator, or of no request");
    tell(state_->unmatched_receives, " messages are received before they are sent: clocks that are not corrected?");
    std::uint64_t never = 0;
    for (const auto& [channel, sends] : state_->sent) never += sends.size();
    tell(never, " messages are sent and never received");
    std::uint64_t alone = 0;
    for (const Instances& all : state_->collectives) alone += all.open.size();
    for (const Instances& all : state_->started) alone += all.open.size();
    tell(alone, " collectives are not called by all ranks of their communicator");
    return problems;
}

}  // namespace otf2
