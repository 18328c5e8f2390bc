// SPDX-License-Identifier: Apache-2.0
// Gloo over TCP, as PyTorch uses it without GPUs: blocking collectives, with I/O on a thread of Gloo's own. Ranks find
// each other through files in a directory that all of them see; MPI is not needed.
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "ddl-workloads/transports/gloo/gloo_mailbox.hpp"
#include "ddl-workloads/transports/gloo/meeting.hpp"
#include "ddl-workloads/transports/roll_call.hpp"
#include "ddl-workloads/transports/transport.hpp"
#include "trace-tools/otf2/write/clock_comparison.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>
#include <unistd.h>

namespace ddl {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

using Reduction = void (*)(void* sums, const void* some, const void* others, std::size_t count);

template <class Value, class Operation>
void combine(void* results, const void* some, const void* others, std::size_t count)
{
    const auto* const first = static_cast<const Value*>(some);
    std::transform(first, first + count, static_cast<const Value*>(others), static_cast<Value*>(results), Operation{});
}

struct AddHalves {
    Half operator()(Half one, Half other) const { return to_half(to_float(one) + to_float(other)); }
};

// Gloo's interface takes non-const pointers even for data that it only reads.
template <class Value>
Value* writable(std::span<const Value> values)
{
    return const_cast<Value*>(values.data());
}

// Removes the source location from messages such as "[/src/gloo/transport/tcp/pair.cc:598] Connection closed by peer
// [10.0.0.2]:4242".
std::string reason(const std::exception& error)
{
    std::string text = error.what();
    while (text.starts_with('[') && text.find("] ") != std::string::npos) text.erase(0, text.find("] ") + 2);
    return text;
}

template <class Work>
void attempt(const std::string& what, Work work)
{
    try {
        work();
    } catch (const std::exception& error) {
        base::fail("cannot ", what, " over gloo: ", reason(error));
    }
}

struct GlooPlan {
    fs::path meeting_place;
    gloo::transport::tcp::attr address;
    milliseconds patience;
    base::JobRank job;
    std::vector<int> members;  // ranks of the job, including this one
};

// Name of the `number`th group of these ranks, counted from 0.
std::string group_name(const std::vector<int>& ranks, int number)
{
    base::Fnv1a hash;
    hash.add(std::as_bytes(std::span{ranks}));
    return base::join(".group.", hash.value(), ".", number);
}

class GlooTransport : public Transport {
 public:
    explicit GlooTransport(const GlooPlan& plan)
        : plan_{plan},
          rank_{static_cast<int>(std::find(plan.members.begin(), plan.members.end(), plan.job.rank) -
                                 plan.members.begin())}
    {
        if (alone()) return;
        const auto meet = [&] {
            device_ = gloo::transport::tcp::CreateDevice(plan_.address);
            const RollCall present{plan_.meeting_place, rank(), size(), plan_.patience};
            GlooMeeting meeting{plan_.meeting_place / present.name()};
            const auto context = std::make_shared<gloo::rendezvous::Context>(rank(), size());
            context->setTimeout(plan_.patience);
            context->connectFullMesh(meeting.store(), device_);
            context_ = context;
            barrier();
        };
        attempt("connect to the other ranks through " + plan_.meeting_place.string(), meet);
    }

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(plan_.members.size()); }

    Mailbox& mailbox() override
    {
        if (mailbox_) return *mailbox_;
        mailbox_.emplace(context_, plan_.members, plan_.job.size);
        mailbox_->record(location_);
        return *mailbox_;
    }

    std::unique_ptr<Transport> group(const std::vector<int>& ranks) override
    {
        GlooPlan plan = plan_;
        plan.members.clear();
        for (const int member : ranks) plan.members.push_back(plan_.members.at(static_cast<std::size_t>(member)));
        plan.meeting_place += group_name(plan.members, made_[plan.members]++);
        auto made = std::make_unique<GlooTransport>(plan);
        made->record(location_);
        return made;
    }

    void sum(std::span<float> values) override { reduce("sum", values, combine<float, std::plus<>>); }
    void sum(std::span<Half> values) override { reduce("sum", values, combine<Half, AddHalves>); }
    void bitwise_and(std::span<std::uint64_t> words) override
    {
        reduce("agree", words, combine<std::uint64_t, std::bit_and<>>);
    }

    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override
    {
        if (mine.empty()) return;
        if (alone()) return copy(mine, all);
        gloo::AllgatherOptions options{context_};
        options.setInput(writable(mine), mine.size());
        options.setOutput(all.data(), all.size());
        attempt("gather", [&] { gloo::allgather(options); });
    }

    void all_to_all(std::span<const std::byte> mine, std::span<const int> sent_bytes, std::span<std::byte> all,
                    std::span<const int> received_bytes) override
    {
        if (alone()) return copy(mine, all);
        gloo::AlltoallvOptions options{context_};
        options.setInput(writable(mine), {sent_bytes.begin(), sent_bytes.end()});
        options.setOutput(all.data(), {received_bytes.begin(), received_bytes.end()});
        attempt("exchange all to all", [&] { gloo::alltoallv(options); });
    }

    void broadcast(std::span<std::byte> bytes, int root) override
    {
        if (bytes.empty() || alone()) return;
        gloo::BroadcastOptions options{context_};
        options.setOutput(bytes.data(), bytes.size());
        options.setRoot(root);
        attempt("broadcast", [&] { gloo::broadcast(options); });
    }

    void barrier() override
    {
        if (alone()) return;
        gloo::BarrierOptions options{context_};
        attempt("wait for the other ranks", [&] { gloo::barrier(options); });
    }

    std::vector<std::string> gather(const std::string& text) override
    {
        if (rank() != 0) {
            const std::uint64_t length = text.size();
            send(0, std::as_bytes(std::span{&length, 1}));
            send(0, std::as_bytes(std::span{text}));
            return {};
        }
        std::vector<std::string> texts{text};
        for (int from = 1; from < size(); ++from) {
            std::uint64_t length = 0;
            receive(from, std::as_writable_bytes(std::span{&length, 1}));
            std::string& other = texts.emplace_back(length, '\0');
            receive(from, std::as_writable_bytes(std::span{other}));
        }
        return texts;
    }

    void send(int to, std::span<const std::byte> message)
    {
        const auto work = [&] {
            const auto buffer = context_->createUnboundBuffer(writable(message), message.size());
            buffer->send(to, message_slot());
            buffer->waitSend(plan_.patience);
        };
        attempt(base::join("send to rank ", to), work);
    }

    void receive(int from, std::span<std::byte> message)
    {
        const auto work = [&] {
            const auto buffer = context_->createUnboundBuffer(message.data(), message.size());
            buffer->recv(from, message_slot());
            buffer->waitRecv(plan_.patience);
        };
        attempt(base::join("receive from rank ", from), work);
    }

    std::unique_ptr<otf2::Team> team() override;

    // Collectives are not recorded as events; exchanges are recorded as regions, as with every transport.
    void record(otf2::LocationRecorder* location) override
    {
        location_ = location;
        if (mailbox_) mailbox_->record(location);
    }

    // Other ranks notice that this rank's connections are closed.
    void abort(int code) noexcept override { _exit(code); }

    nlohmann::ordered_json describe() const override
    {
        return {{"name", "gloo"},
                {"library", base::join("gloo ", GLOO_VERSION_MAJOR, ".", GLOO_VERSION_MINOR, ".", GLOO_VERSION_PATCH)},
                {"device", device_ ? device_->str() : "none: there is one rank"},
                {"progress", "calls block; gloo's own thread does the I/O"},
                {"timeout", base::format(base::Nanoseconds{plan_.patience})},
                {"half_precision", "reduction defined by ddl-train"}};
    }

 private:
    bool alone() const { return plan_.members.size() == 1; }

    static void copy(std::span<const std::byte> from, std::span<std::byte> to)
    {
        std::copy(from.begin(), from.end(), to.begin());
    }

    // A slot that no collective uses. Messages between two ranks keep their order.
    static std::uint64_t message_slot() { return gloo::Slot::build(gloo::kGatherSlotPrefix, 0); }

    template <class Value>
    void reduce(const char* what, std::span<Value> values, Reduction operation)
    {
        if (values.empty() || alone()) return;
        gloo::AllreduceOptions options{context_};
        options.setOutput(values.data(), values.size());
        options.setReduceFunction(operation);
        attempt(what, [&] { gloo::allreduce(options); });
    }

    GlooPlan plan_;
    int rank_;
    std::shared_ptr<gloo::transport::Device> device_;  // this and the next member: null if there is only one rank
    std::shared_ptr<gloo::Context> context_;
    otf2::LocationRecorder* location_ = nullptr;  // null: messages are not recorded
    std::optional<GlooMailbox> mailbox_;          // made at the first call of mailbox()
    std::map<std::vector<int>, int> made_;        // groups made so far, by their ranks in the job
};

class GlooTeam : public otf2::Team {
 public:
    explicit GlooTeam(GlooTransport& transport) : transport_{transport} {}

    int rank() const override { return transport_.rank(); }
    int size() const override { return transport_.size(); }
    std::string process_name() const override { return "Rank " + std::to_string(rank()); }
    std::vector<std::string> gather(const std::string& mine) override { return transport_.gather(mine); }
    std::string broadcast(const std::string& of_rank_0) override
    {
        std::string text = of_rank_0;
        std::uint64_t length = text.size();
        transport_.broadcast(std::as_writable_bytes(std::span{&length, 1}), 0);
        text.resize(length);
        transport_.broadcast(std::as_writable_bytes(std::span{text}), 0);
        return text;
    }
    void barrier() override { transport_.barrier(); }
    otf2::ClockOffset clock_offset(const std::string& clock_identity) override
    {
        return otf2::compare_clocks(
            *this, clock_identity, [this](int to, std::span<const std::byte> message) { transport_.send(to, message); },
            [this](int from, std::span<std::byte> message) { transport_.receive(from, message); });
    }

 private:
    GlooTransport& transport_;
};

std::unique_ptr<otf2::Team> GlooTransport::team()
{
    return std::make_unique<GlooTeam>(*this);
}

std::unique_ptr<Transport> make(const base::Settings& settings, const TransportPlan& plan)
{
    const std::string& host = settings.text("host");
    const std::string& interface = settings.text("interface");
    if (!host.empty() && !interface.empty()) base::fail_usage("gloo: give only one of host and interface");
    const auto timeout = std::chrono::duration_cast<milliseconds>(settings.get<base::Nanoseconds>("timeout"));
    if (timeout.count() <= 0) base::fail_usage("gloo[timeout]: must be at least 1ms");
    const fs::path store = settings.given("store") ? fs::path{settings.text("store")} : plan.run;
    const base::JobRank job = base::job_rank();
    std::vector<int> everyone(static_cast<std::size_t>(job.size));
    std::iota(everyone.begin(), everyone.end(), 0);
    return std::make_unique<GlooTransport>(GlooPlan{
        .meeting_place = store / gloo_job_name(),
        .address = job.size > 1 ? gloo_address(host, interface, job) : gloo::transport::tcp::attr{},
        .patience = timeout,
        .job = job,
        .members = everyone,
    });
}

}  // namespace

extern const TransportCard gloo_transport{
    .name = "gloo",
    .summary = "Gloo over TCP, without MPI; ranks are numbered by mpirun, srun or torchrun",
    .offers = {&host_exchange, &messages, &groups},
    .options =
        {{"store", "", "shared directory for the rendezvous (default: the run's)"},
         {"host", "",
          "this host's name or address for other ranks (default: host name, or 127.0.0.1 if all ranks are local)"},
         {"interface", "", "network interface instead of host: eth0"},
         {"timeout", "10min", "timeout of an exchange"}},
    .make = make,
};

}  // namespace ddl
