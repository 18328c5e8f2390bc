#include "trace-tools/synth/synthesis.hpp"

#include "base/contract/trace_names.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "base/stop.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace otf2 {

namespace {

constexpr std::int64_t least_begin_ns = 1'000'000'000;
constexpr std::int64_t call_ns = 1'000;  // the least that an MPI call takes

// Where a rank was when another one waited for it.
struct Moment {
    std::int64_t ns = 0;
    CriticalPathChain::Position path;
};

struct Pending {
    enum class What { collective, send, receive };
    What what = What::collective;
    std::int64_t complete_ns = 0;
    Moment awaited = {};  // the last rank that started the collective; the sender; the receiver
    std::uint64_t number = 0;
    std::string communicator = {};
    CollectiveEnd collective = {};
    Message message = {};
};

struct Rank {
    std::unique_ptr<Recorder> recorder;
    LocationRecorder* events = nullptr;
    std::int64_t now_ns = 0;
    CriticalPathChain path;
    std::map<std::string, Pending> pending;
    std::uint64_t requests = 0;
};

// No clock, however far behind, shows a time before 0.
std::int64_t begin_of(const SynthSpec& spec)
{
    std::int64_t begin_ns = least_begin_ns;
    for (const ClockError& clock : spec.clocks) begin_ns = std::max(begin_ns, clock.offset_ns + 1);
    return begin_ns;
}

bool speaks_mpi(const SynthSpec& spec)
{
    return std::any_of(spec.regions.begin(), spec.regions.end(),
                       [](const SynthRegion& region) { return region.paradigm == Paradigm::mpi; });
}

bool counts_steps(const std::vector<Statement>& program)
{
    return std::any_of(program.begin(), program.end(), [](const Statement& statement) {
        const auto* const block = std::get_if<Block>(&statement.what);
        return block != nullptr && (block->counts || counts_steps(block->body));
    });
}

class Synthesis {
 public:
    Synthesis(const SynthSpec& spec, const std::filesystem::path& directory)
        : spec_{spec},
          begin_ns_{begin_of(spec)},
          meeting_{spec.ranks},
          random_{spec.seed},
          ranks_(static_cast<std::size_t>(spec.ranks))
    {
        try {
            on_each_rank(meeting_, [&](int rank) { begin(rank, directory); });
        } catch (...) {
            const auto has_begun = [](const Rank& rank) { return rank.recorder != nullptr; };
            std::error_code ignored;
            if (std::any_of(ranks_.begin(), ranks_.end(), has_begun))
                std::filesystem::remove_all(unfinished(directory), ignored);
            throw;
        }
    }

    const SynthTruth& run()
    {
        for (int rank = 0; rank < spec_.ranks; ++rank) set_up(rank);
        visit(initialise_);
        carry_out(spec_.program);
        visit(finalise_);
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
            if (!ranks_[rank].pending.empty())
                base::fail("rank ", rank, " never waits for '", ranks_[rank].pending.begin()->first, "'");
        const auto earlier = [](const Rank& one, const Rank& other) { return one.now_ns < other.now_ns; };
        const auto last = std::max_element(ranks_.begin(), ranks_.end(), earlier);
        true_ns_ = std::max(last->now_ns, begin_ns_ + 1);  // OTF2 reads no clocks that were compared twice at one time
        truth_.path_ns = last->path.times();
        truth_.length_ns = last->now_ns - begin_ns_;
        return truth_;
    }

    void finish()
    {
        on_each_rank(meeting_, [&](int rank) { at(rank).recorder->finish(); });
    }

 private:
    void begin(int rank, const std::filesystem::path& directory)
    {
        auto clock = [this, rank] {
            const std::int64_t own_ns = own_time(rank, true_ns_);
            return ClockSample{.at_ns = own_ns, .offset_ns = true_ns_ - own_ns};
        };
        at(rank).recorder = std::make_unique<Recorder>(directory, std::make_unique<ThreadTeam>(rank, meeting_, clock));
    }

    void set_up(int rank)
    {
        Rank& mine = at(rank);
        mine.events = &mine.recorder->location("Master thread");
        mine.recorder->speaks_mpi(*mine.events);
        mine.now_ns = begin_ns_;
        mine.path = CriticalPathChain{static_cast<std::uint32_t>(rank)};
        define(*mine.recorder);
    }

    // In the same order on all ranks, so that all have the same numbers.
    void define(Recorder& recorder)
    {
        std::vector<RegionRef> regions;
        for (const SynthRegion& region : spec_.regions)
            regions.push_back(recorder.region(region.name, region.role, region.paradigm));
        std::vector<CommunicatorRef> communicators;
        for (std::size_t i = 0; i < spec_.communicators.size(); ++i)
            communicators.push_back(recorder.communicator({.maker = 0, .number = static_cast<int>(i)},
                                                          spec_.communicators[i].members, spec_.communicators[i].name));
        if (speaks_mpi(spec_)) {
            initialise_ = recorder.region("MPI_Init", RegionRole::function, Paradigm::mpi);
            finalise_ = recorder.region("MPI_Finalize", RegionRole::function, Paradigm::mpi);
        }
        if (counts_steps(spec_.program))
            step_ = recorder.attribute(base::attribute::step, Type::uint64, "number of the step, from 0");
        regions_ = std::move(regions);
        communicators_ = std::move(communicators);
    }

    std::int64_t own_time(int rank, std::int64_t true_ns) const
    {
        const ClockError& error = spec_.clocks[static_cast<std::size_t>(rank)];
        if (error.drift == 0.0) return true_ns - error.offset_ns;
        const auto since = static_cast<double>(true_ns - begin_ns_);
        return begin_ns_ - error.offset_ns + std::llround(since / (1.0 + error.drift));
    }

    std::int64_t stamp(int rank) const { return own_time(rank, at(rank).now_ns); }

    std::int64_t draw(const TimeRange& range)
    {
        const auto width = static_cast<std::uint64_t>(range.most_ns - range.least_ns);
        return range.least_ns + (width == 0 ? 0 : static_cast<std::int64_t>(base::draw_below(random_, width + 1)));
    }

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    void enter(int rank, std::size_t region) { at(rank).events->enter(regions_[region], stamp(rank)); }
    void leave(int rank, std::size_t region) { at(rank).events->leave(regions_[region], stamp(rank)); }

    // On all ranks, without taking time.
    void visit(const std::optional<RegionRef>& region)
    {
        if (!region) return;
        for (int rank = 0; rank < spec_.ranks; ++rank) {
            at(rank).events->enter(*region, stamp(rank));
            at(rank).events->leave(*region, stamp(rank));
        }
    }

    void carry_out(const std::vector<Statement>& statements)
    {
        for (const Statement& statement : statements) {
            base::end_if_stopped();
            std::visit([this](const auto& what) { carry_out(what); }, statement.what);
        }
    }

    void carry_out(const Work& work)
    {
        for (int rank = 0; rank < spec_.ranks; ++rank) {
            const std::optional<TimeRange>& time = work.times[static_cast<std::size_t>(rank)];
            if (time) spend(rank, work.region, draw(*time));
        }
    }

    void spend(int rank, std::size_t region, std::int64_t ns)
    {
        enter(rank, region);
        pass(rank, region, at(rank).now_ns + ns);
        leave(rank, region);
    }

    // Every time that is added comes by here, and none is longer than the longest trace: no sum overflows.
    void pass(int rank, std::size_t region, std::int64_t until_ns)
    {
        if (until_ns - begin_ns_ > longest_ns)
            base::fail("the program takes longer than ", longest_ns / day_ns, " days, the most that a trace lasts");
        Rank& mine = at(rank);
        mine.path.add(static_cast<std::uint32_t>(region), until_ns - mine.now_ns);
        mine.now_ns = until_ns;
    }

    void carry_out(const Block& block)
    {
        const bool steps = block.counts && now_step_ < 0;
        for (std::int64_t i = 0; i < block.repetitions; ++i) {
            if (steps) now_step_ = i;
            for (int rank = 0; rank < spec_.ranks; ++rank) {
                if (block.counts)
                    at(rank).events->enter(regions_[block.region], stamp(rank), {{step_, i}});
                else
                    enter(rank, block.region);
            }
            carry_out(block.body);
            for (int rank = 0; rank < spec_.ranks; ++rank) leave(rank, block.region);
        }
        if (steps) now_step_ = -1;
    }

    // ---------------------------------------------------------------------------------------------------- collectives

    struct Arrivals {
        std::vector<std::int64_t> ns;  // by rank in the communicator
        int last = 0;                  // the first of those who come last
        Moment latest;
    };

    Arrivals arrivals(const std::vector<int>& members)
    {
        Arrivals all;
        for (const int rank : members) all.ns.push_back(at(rank).now_ns);
        all.last = static_cast<int>(std::max_element(all.ns.begin(), all.ns.end()) - all.ns.begin());
        all.latest = moment(members[static_cast<std::size_t>(all.last)]);
        return all;
    }

    Moment moment(int rank) { return {.ns = at(rank).now_ns, .path = at(rank).path.position()}; }

    void carry_out(const CollectiveCall& call)
    {
        const SynthCommunicator& communicator = spec_.communicators[call.communicator];
        if (!call.request.empty()) return start(call, communicator);
        const Arrivals all = arrivals(communicator.members);
        std::vector<Moment> awaited;  // by rank in the communicator: whose start ends its wait
        for (std::size_t i = 0; i < communicator.members.size(); ++i) awaited.push_back(awaited_by(i, call, all));
        std::vector<std::int64_t> left;
        for (std::size_t i = 0; i < communicator.members.size(); ++i)
            left.push_back(std::max(all.ns[i], awaited[i].ns) + std::max(call_ns, draw(call.transfer)));
        const std::int64_t first_left = *std::min_element(left.begin(), left.end());

        for (std::size_t i = 0; i < communicator.members.size(); ++i) {
            const int rank = communicator.members[i];
            enter(rank, call.region);
            at(rank).events->collective_begin(stamp(rank));
            go_on(rank, call.region, awaited[i], left[i]);
            at(rank).events->collective_end(stamp(rank), end_of(call));
            leave(rank, call.region);

            const std::int64_t waited_ns = std::max<std::int64_t>(0, awaited[i].ns - all.ns[i]);
            const auto note = [&](const char* pattern, std::int64_t ns) {
                count(pattern, communicator.name, call.region, rank, ns);
            };
            if (call.flow == Flow::all_to_all) {
                note("mpi_wait_nxn", waited_ns);
                note("mpi_nxn_completion", left[i] - first_left);
            } else if (call.flow == Flow::barrier) {
                note("mpi_barrier_wait", waited_ns);
                note("mpi_barrier_completion", left[i] - first_left);
            } else {
                note(call.flow == Flow::one_to_all ? "mpi_latebroadcast" : "mpi_earlyreduce", waited_ns);
            }
        }
    }

    // The rank whose coming this one needs; itself if it needs none.
    Moment awaited_by(std::size_t i, const CollectiveCall& call, const Arrivals& all)
    {
        const std::vector<int>& members = spec_.communicators[call.communicator].members;
        const bool is_root = i == call.root;
        if (call.flow == Flow::one_to_all) return moment(is_root ? members[i] : members[call.root]);
        if (call.flow == Flow::all_to_one && !is_root) return moment(members[i]);
        return all.latest;
    }

    CollectiveEnd end_of(const CollectiveCall& call) const
    {
        return {.operation = call.operation,
                .communicator = communicators_[call.communicator],
                .root = call.root,
                .sent_bytes = call.bytes,
                .received_bytes = call.bytes};
    }

    // Inside a call until `until_ns`, since `awaited` only if that came later than this rank.
    void go_on(int rank, std::size_t region, const Moment& awaited, std::int64_t until_ns)
    {
        Rank& mine = at(rank);
        if (awaited.ns > mine.now_ns) {
            mine.path.continue_from(awaited.path);
            mine.now_ns = awaited.ns;
        }
        pass(rank, region, until_ns);
    }

    void start(const CollectiveCall& call, const SynthCommunicator& communicator)
    {
        const Arrivals all = arrivals(communicator.members);
        for (const int rank : communicator.members) {
            Pending pending{.what = Pending::What::collective,
                            .complete_ns = all.latest.ns + draw(call.transfer),
                            .awaited = all.latest,
                            .communicator = communicator.name,
                            .collective = end_of(call)};
            post(rank, call.region, call.request, std::move(pending));
        }
    }

    void post(int rank, std::size_t region, const std::string& request, Pending pending)
    {
        Rank& mine = at(rank);
        pending.number = mine.requests++;
        enter(rank, region);
        if (pending.what == Pending::What::collective)
            mine.events->collective_request(stamp(rank), pending.number);
        else if (pending.what == Pending::What::send)
            mine.events->send_request(stamp(rank), pending.message, pending.number);
        else
            mine.events->receive_request(stamp(rank), pending.number);
        pass(rank, region, mine.now_ns + call_ns);
        leave(rank, region);
        if (!mine.pending.emplace(request, std::move(pending)).second)
            base::fail("rank ", rank, " starts '", request, "' again before it waited for it");
    }

    void carry_out(const WaitCall& call)
    {
        bool any = false;
        for (int rank = 0; rank < spec_.ranks; ++rank) {
            if (!call.ranks.empty() && std::find(call.ranks.begin(), call.ranks.end(), rank) == call.ranks.end())
                continue;
            const auto found = at(rank).pending.find(call.request);
            if (found == at(rank).pending.end()) continue;
            any = true;
            const Pending pending = std::move(found->second);
            at(rank).pending.erase(found);
            wait(rank, call.region, pending);
        }
        if (!any) base::fail("no rank has anything to wait for as '", call.request, "'");
    }

    void wait(int rank, std::size_t region, const Pending& pending)
    {
        Rank& mine = at(rank);
        const std::int64_t entered_ns = mine.now_ns;
        const std::int64_t left_ns = std::max(entered_ns + call_ns, pending.complete_ns);
        enter(rank, region);
        const bool is_send = pending.what == Pending::What::send;
        const Moment awaited = is_send ? late_receiver(pending.awaited, left_ns) : pending.awaited;
        go_on(rank, region, awaited, left_ns);
        const std::int64_t waited_ns = std::max<std::int64_t>(0, awaited.ns - entered_ns);
        if (pending.what == Pending::What::collective) {
            mine.events->collective_complete(stamp(rank), pending.collective, pending.number);
            count("mpi_icollective_exposed", pending.communicator, region, rank, left_ns - entered_ns);
            count("mpi_icollective_wait", pending.communicator, region, rank, waited_ns);
        } else if (pending.what == Pending::What::send) {
            mine.events->send_complete(stamp(rank), pending.number);
            count("mpi_latereceiver", pending.communicator, region, rank, waited_ns);
        } else {
            mine.events->receive_complete(stamp(rank), pending.message, pending.number);
            count("mpi_latesender", pending.communicator, region, rank, waited_ns);
        }
        leave(rank, region);
    }

    // ------------------------------------------------------------------------------------------------------- messages

    // Scalasca's: a send waits for its receiver from when the call began that ends the send to when the call began that
    // posts the receive, and not at all if the send was over by then.
    static Moment late_receiver(const Moment& receiver, std::int64_t send_left_ns)
    {
        return receiver.ns < send_left_ns ? receiver : Moment{};
    }

    void carry_out(const MessageCall& call)
    {
        const std::string& world = spec_.communicators.front().name;
        const Moment sender = moment(call.from);
        const Moment receiver = moment(call.to);
        const Message sent = message(call, call.to);
        const Message received = message(call, call.from);
        const std::int64_t transfer_ns = draw(call.transfer);
        if (!call.request.empty()) {
            const std::int64_t arrived_ns = std::max(sender.ns, receiver.ns) + transfer_ns;
            post(call.from, call.send_region, call.request,
                 {.what = Pending::What::send,
                  .complete_ns = sender.ns,
                  .awaited = receiver,
                  .communicator = world,
                  .message = sent});
            post(call.to, call.receive_region, call.request,
                 {.what = Pending::What::receive,
                  .complete_ns = arrived_ns,
                  .awaited = sender,
                  .communicator = world,
                  .message = received});
            return;
        }
        const std::int64_t both_ns = std::max(sender.ns, receiver.ns);
        const std::int64_t send_left_ns =
            call.synchronous ? std::max(both_ns + transfer_ns, sender.ns + call_ns) : sender.ns + call_ns;
        const std::int64_t receive_left_ns = call.synchronous
                                                 ? std::max(both_ns + transfer_ns, receiver.ns + call_ns)
                                                 : std::max(sender.ns + transfer_ns, receiver.ns + call_ns);

        enter(call.from, call.send_region);
        at(call.from).events->send(stamp(call.from), sent);
        const Moment late = late_receiver(receiver, send_left_ns);
        go_on(call.from, call.send_region, late, send_left_ns);
        leave(call.from, call.send_region);
        enter(call.to, call.receive_region);
        go_on(call.to, call.receive_region, sender, receive_left_ns);
        at(call.to).events->receive(stamp(call.to), received);
        leave(call.to, call.receive_region);

        count("mpi_latesender", world, call.receive_region, call.to,
              std::max<std::int64_t>(0, std::min(sender.ns, receive_left_ns) - receiver.ns));
        count("mpi_latereceiver", world, call.send_region, call.from, std::max<std::int64_t>(0, late.ns - sender.ns));
    }

    Message message(const MessageCall& call, int peer) const
    {
        return {.peer = static_cast<std::uint32_t>(peer),
                .communicator = communicators_.front(),
                .tag = call.tag,
                .bytes = call.bytes};
    }

    void count(const std::string& pattern, const std::string& communicator, std::size_t region, int rank,
               std::int64_t ns)
    {
        if (ns <= 0) return;
        SynthTruth::Sum& sum = truth_.waits[{pattern, communicator, region, rank, now_step_}];
        sum.ns += ns;
        ++sum.count;
    }

    const SynthSpec& spec_;
    const std::int64_t begin_ns_;
    ThreadMeeting meeting_;
    base::Random random_;
    std::vector<Rank> ranks_;
    std::vector<RegionRef> regions_;
    std::vector<CommunicatorRef> communicators_;
    std::optional<RegionRef> initialise_;  // MPI
    std::optional<RegionRef> finalise_;
    AttributeRef step_;
    std::int64_t true_ns_ = begin_ns_;  // when clocks are compared
    std::int64_t now_step_ = -1;
    SynthTruth truth_;
};

void write_truth(const SynthTruth& truth, const SynthSpec& spec, const std::filesystem::path& directory)
{
    base::CsvWriter waits{directory / "waits.csv",
                          {"pattern", "communicator", "region", "rank", "step", "seconds", "count"},
                          base::CsvWriter::Appear::whole};
    for (const auto& [key, sum] : truth.waits)
        waits.row(key.pattern, key.communicator, spec.regions[key.region].name, key.rank, key.step,
                  static_cast<double>(sum.ns) / 1e9, sum.count);
    waits.finish();
    base::CsvWriter path{directory / "path.csv", {"region", "rank", "seconds"}, base::CsvWriter::Appear::whole};
    for (const auto& [key, ns] : truth.path_ns)
        path.row(spec.regions[key.where].name, key.location, static_cast<double>(ns) / 1e9);
    path.finish();
}

}  // namespace

SynthTruth synthesize(const SynthSpec& spec, const std::filesystem::path& directory)
{
    const base::MadeDirectories parents{unfinished(directory).parent_path()};
    Synthesis synthesis{spec, directory};
    try {
        SynthTruth truth = synthesis.run();
        write_truth(truth, spec, unfinished(directory));
        synthesis.finish();
        return truth;
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(unfinished(directory), ignored);
        throw;
    }
}

}  // namespace otf2
