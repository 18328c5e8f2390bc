// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/synth/synthesis.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/synth/timelines.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace synth {

namespace {

constexpr std::int64_t call_ns = 1'000;  // shortest duration of an MPI call

struct Pending {
    enum class What { collective, send, receive };
    What what = What::collective;
    std::int64_t complete_ns = 0;
    Moment awaited = {};  // who is awaited: the last rank that starts the collective, the sender, or the receiver
    std::uint64_t number = 0;
    std::string communicator = {};
    otf2::CollectiveEnd collective = {};
    otf2::Message message = {};
};

// Requests of a rank.
struct Requests {
    std::map<std::string, Pending> pending;
    std::uint64_t count = 0;
};

class Synthesis {
 public:
    Synthesis(const SynthSpec& spec, const std::filesystem::path& directory)
        : spec_{spec}, lines_{spec, directory}, random_{spec.seed}, requests_(static_cast<std::size_t>(spec.ranks))
    {
    }

    const SynthTruth& run()
    {
        lines_.begin_program();
        carry_out(spec_.program);
        for (std::size_t rank = 0; rank < requests_.size(); ++rank)
            if (!requests_[rank].pending.empty())
                base::fail_usage("rank ", rank, " never waits for '", requests_[rank].pending.begin()->first, "'");
        std::tie(truth_.path_ns, truth_.length_ns) = lines_.end_program();
        return truth_;
    }

    void finish() { lines_.finish(); }

 private:
    std::int64_t draw(const TimeRange& range)
    {
        const auto width = static_cast<std::uint64_t>(range.most_ns - range.least_ns);
        return range.least_ns + (width == 0 ? 0 : static_cast<std::int64_t>(base::draw_below(random_, width + 1)));
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
            if (time) lines_.work(rank, work.region, draw(*time));
        }
    }

    void carry_out(const Block& block)
    {
        const bool steps = block.counts && now_step_ < 0;
        for (std::int64_t i = 0; i < block.repetitions; ++i) {
            if (steps) now_step_ = i;
            for (int rank = 0; rank < spec_.ranks; ++rank) {
                if (block.counts)
                    lines_.enter_step(rank, block.region, i);
                else
                    lines_.enter(rank, block.region);
            }
            carry_out(block.body);
            for (int rank = 0; rank < spec_.ranks; ++rank) lines_.leave(rank, block.region);
        }
        if (steps) now_step_ = -1;
    }

    // ---------------------------------------------------------------------------------------------------- collectives

    struct Arrivals {
        std::vector<std::int64_t> ns;  // by rank in the communicator
        int last = 0;                  // rank that arrives last; the first one of several
        Moment latest;
    };

    Arrivals arrivals(const std::vector<int>& members)
    {
        Arrivals all;
        for (const int rank : members) all.ns.push_back(lines_.now_ns(rank));
        all.last = static_cast<int>(std::ranges::max_element(all.ns) - all.ns.begin());
        all.latest = lines_.moment(members[static_cast<std::size_t>(all.last)]);
        return all;
    }

    void carry_out(const CollectiveCall& call)
    {
        const SynthCommunicator& communicator = spec_.communicators[call.communicator];
        if (!call.request.empty()) return start(call, communicator);
        const Arrivals all = arrivals(communicator.members);
        std::vector<Moment> awaited;  // by rank in the communicator: the arrival that ends its wait
        for (std::size_t i = 0; i < communicator.members.size(); ++i) awaited.push_back(awaited_by(i, call, all));
        std::vector<std::int64_t> left;
        for (std::size_t i = 0; i < communicator.members.size(); ++i)
            left.push_back(std::max(all.ns[i], awaited[i].ns) + std::max(call_ns, draw(call.transfer)));
        const std::int64_t first_left = *std::ranges::min_element(left);

        for (std::size_t i = 0; i < communicator.members.size(); ++i) {
            const int rank = communicator.members[i];
            lines_.enter(rank, call.region);
            lines_.events(rank).collective_begin(lines_.stamp(rank));
            lines_.wait(rank, call.region, awaited[i], left[i]);
            lines_.events(rank).collective_end(lines_.stamp(rank), end_of(call));
            lines_.leave(rank, call.region);

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

    // The arrival that this rank waits for; its own if it waits for none.
    Moment awaited_by(std::size_t i, const CollectiveCall& call, const Arrivals& all)
    {
        const std::vector<int>& members = spec_.communicators[call.communicator].members;
        const bool is_root = i == call.root;
        if (call.flow == Flow::one_to_all) return lines_.moment(is_root ? members[i] : members[call.root]);
        if (call.flow == Flow::all_to_one && !is_root) return lines_.moment(members[i]);
        return all.latest;
    }

    otf2::CollectiveEnd end_of(const CollectiveCall& call) const
    {
        return {.operation = call.operation,
                .communicator = lines_.communicator(call.communicator),
                .root = call.root,
                .sent_bytes = call.bytes,
                .received_bytes = call.bytes};
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
        Requests& mine = requests_[static_cast<std::size_t>(rank)];
        pending.number = mine.count++;
        lines_.enter(rank, region);
        if (pending.what == Pending::What::collective)
            lines_.events(rank).collective_request(lines_.stamp(rank), pending.number);
        else if (pending.what == Pending::What::send)
            lines_.events(rank).send_request(lines_.stamp(rank), pending.message, pending.number);
        else
            lines_.events(rank).receive_request(lines_.stamp(rank), pending.number);
        lines_.pass(rank, region, lines_.now_ns(rank) + call_ns);
        lines_.leave(rank, region);
        if (!mine.pending.emplace(request, std::move(pending)).second)
            base::fail("rank ", rank, " starts '", request, "' again before waiting for it");
    }

    void carry_out(const WaitCall& call)
    {
        bool any = false;
        for (int rank = 0; rank < spec_.ranks; ++rank) {
            if (!call.ranks.empty() && std::ranges::find(call.ranks, rank) == call.ranks.end()) continue;
            auto& mine = requests_[static_cast<std::size_t>(rank)].pending;
            const auto found = mine.find(call.request);
            if (found == mine.end()) continue;
            any = true;
            const Pending pending = std::move(found->second);
            mine.erase(found);
            wait(rank, call.region, pending);
        }
        if (!any) base::fail("no rank has a request '", call.request, "'");
    }

    void wait(int rank, std::size_t region, const Pending& pending)
    {
        const std::int64_t entered_ns = lines_.now_ns(rank);
        const std::int64_t left_ns = std::max(entered_ns + call_ns, pending.complete_ns);
        lines_.enter(rank, region);
        const bool is_send = pending.what == Pending::What::send;
        const Moment awaited = is_send ? late_receiver(pending.awaited, left_ns) : pending.awaited;
        lines_.wait(rank, region, awaited, left_ns);
        const std::int64_t waited_ns = std::max<std::int64_t>(0, awaited.ns - entered_ns);
        if (pending.what == Pending::What::collective) {
            lines_.events(rank).collective_complete(lines_.stamp(rank), pending.collective, pending.number);
            count("mpi_icollective_exposed", pending.communicator, region, rank, left_ns - entered_ns);
            count("mpi_icollective_wait", pending.communicator, region, rank, waited_ns);
        } else if (pending.what == Pending::What::send) {
            lines_.events(rank).send_complete(lines_.stamp(rank), pending.number);
            count("mpi_latereceiver", pending.communicator, region, rank, waited_ns);
        } else {
            lines_.events(rank).receive_complete(lines_.stamp(rank), pending.message, pending.number);
            count("mpi_latesender", pending.communicator, region, rank, waited_ns);
        }
        lines_.leave(rank, region);
    }

    // ------------------------------------------------------------------------------------------------------- messages

    // Late receiver, as Scalasca defines it: the sender waits from the start of the call that completes the send until
    // the receiver begins the call that posts the receive; it does not wait if the send completed before that.
    static Moment late_receiver(const Moment& receiver, std::int64_t send_left_ns)
    {
        return receiver.ns < send_left_ns ? receiver : Moment{};
    }

    void carry_out(const MessageCall& call)
    {
        const std::string& world = spec_.communicators.front().name;
        const Moment sender = lines_.moment(call.from);
        const Moment receiver = lines_.moment(call.to);
        const otf2::Message sent = message(call, call.to);
        const otf2::Message received = message(call, call.from);
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

        lines_.enter(call.from, call.send_region);
        lines_.events(call.from).send(lines_.stamp(call.from), sent);
        const Moment late = late_receiver(receiver, send_left_ns);
        lines_.wait(call.from, call.send_region, late, send_left_ns);
        lines_.leave(call.from, call.send_region);
        lines_.enter(call.to, call.receive_region);
        lines_.wait(call.to, call.receive_region, sender, receive_left_ns);
        lines_.events(call.to).receive(lines_.stamp(call.to), received);
        lines_.leave(call.to, call.receive_region);

        count("mpi_latesender", world, call.receive_region, call.to,
              std::max<std::int64_t>(0, std::min(sender.ns, receive_left_ns) - receiver.ns));
        count("mpi_latereceiver", world, call.send_region, call.from, std::max<std::int64_t>(0, late.ns - sender.ns));
    }

    otf2::Message message(const MessageCall& call, int peer) const
    {
        return {.peer = static_cast<std::uint32_t>(peer),
                .communicator = lines_.communicator(0),
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
    Timelines lines_;
    base::Random random_;
    std::vector<Requests> requests_;  // by rank
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
    const base::MadeDirectories parents{otf2::unfinished(directory).parent_path()};
    Synthesis synthesis{spec, directory};
    try {
        SynthTruth truth = synthesis.run();
        write_truth(truth, spec, otf2::unfinished(directory));
        synthesis.finish();
        return truth;
    } catch (...) {
        std::error_code ignored;
        base::remove_tree(otf2::unfinished(directory), ignored);
        throw;
    }
}

}  // namespace synth
