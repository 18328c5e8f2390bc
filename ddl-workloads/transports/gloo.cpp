// Gloo over TCP, as PyTorch uses it without GPUs: blocking collectives, whose I/O is done by a thread of Gloo's own.
// Ranks find each other through files in a directory that all of them see; nothing of MPI is needed.
#ifdef CROSSTALK_HAS_GLOO

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "base/system/launcher.hpp"
#include "base/system/local_rank.hpp"
#include "ddl-workloads/transports/roll_call.hpp"
#include "ddl-workloads/transports/transport.hpp"
#include "trace-tools/otf2/write/clock_comparison.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>
#include <netdb.h>
#include <sys/utsname.h>
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

// Gloo wants what it only reads as it wants what it writes.
template <class Value>
Value* writable(std::span<const Value> values)
{
    return const_cast<Value*>(values.data());
}

// "[/src/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.2]:4242" without where in Gloo that is said.
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

// No other job's that may use the same directory at the same time: the launcher's number of this one.
std::string job_name()
{
    std::string name;
    for (const char* variable :
         {"PMIX_NAMESPACE", "TORCHELASTIC_RUN_ID", "MASTER_PORT", "SLURM_JOB_ID", "SLURM_STEP_ID"})
        if (const auto value = base::environment(variable)) name += "." + *value;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
    return "gloo" + name;
}

// Gloo would crash on an unknown name.
void check_known(const std::string& host)
{
    addrinfo* addresses = nullptr;
    const int code = ::getaddrinfo(host.c_str(), nullptr, nullptr, &addresses);
    if (code != 0)
        base::fail("the host name ", host, " has no address (", ::gai_strerror(code),
                   "): --transport gloo[host=NAME] or gloo[interface=NAME] says how others reach this host");
    ::freeaddrinfo(addresses);
}

std::string own_name()
{
    utsname name{};
    ::uname(&name);
    return name.nodename;
}

// Within one host the loopback, which even those have whose own name has no address.
gloo::transport::tcp::attr address(const std::string& host, const std::string& interface, const base::JobRank& job)
{
    gloo::transport::tcp::attr attributes;
    attributes.iface = interface;
    if (!interface.empty()) return attributes;
    const bool one_host = base::local_rank().size == job.size;
    attributes.hostname = !host.empty() ? host : one_host ? "127.0.0.1" : own_name();
    check_known(attributes.hostname);
    return attributes;
}

// Where ranks leave their addresses for each other. Of no use once they have met, or cannot.
class MeetingPlace {
 public:
    explicit MeetingPlace(const fs::path& path) : path_{made(path)}, store_{path} {}
    ~MeetingPlace()
    {
        std::error_code ignored;
        for (const std::string& file : store_.getAllKeyFilePaths()) fs::remove(file, ignored);
        fs::remove(path_, ignored);  // the last one does
    }
    MeetingPlace(const MeetingPlace&) = delete;
    MeetingPlace& operator=(const MeetingPlace&) = delete;

    gloo::rendezvous::FileStore& store() { return store_; }

 private:
    static const fs::path& made(const fs::path& path)
    {
        fs::create_directories(path);
        return path;
    }

    fs::path path_;
    gloo::rendezvous::FileStore store_;
};

class GlooTransport : public Transport {
 public:
    GlooTransport(const fs::path& meeting_place, const std::string& host, const std::string& interface,
                  milliseconds patience)
        : job_{base::job_rank()}, patience_{patience}
    {
        if (job_.size == 1) return;
        const gloo::transport::tcp::attr own_address = address(host, interface, job_);
        const auto meet = [&] {
            device_ = gloo::transport::tcp::CreateDevice(own_address);
            const RollCall present{meeting_place, job_.rank, job_.size, patience};
            MeetingPlace meeting{meeting_place / present.name()};
            const auto context = std::make_shared<gloo::rendezvous::Context>(job_.rank, job_.size);
            context->setTimeout(patience);
            context->connectFullMesh(meeting.store(), device_);
            context_ = context;
            barrier();
        };
        attempt("meet the other ranks in " + meeting_place.string(), meet);
    }

    int rank() const override { return job_.rank; }
    int size() const override { return job_.size; }

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
            buffer->waitSend(patience_);
        };
        attempt(base::join("send to rank ", to), work);
    }

    void receive(int from, std::span<std::byte> message)
    {
        const auto work = [&] {
            const auto buffer = context_->createUnboundBuffer(message.data(), message.size());
            buffer->recv(from, message_slot());
            buffer->waitRecv(patience_);
        };
        attempt(base::join("receive from rank ", from), work);
    }

    std::unique_ptr<otf2::Team> team() override;

    // Its calls are no events: exchanges are regions, as with every transport.
    void record(otf2::LocationRecorder*) override {}

    // The others notice that this rank's connections are closed.
    void abort(int code) noexcept override { _exit(code); }

    nlohmann::ordered_json describe() const override
    {
        return {{"name", "gloo"},
                {"library", base::join("gloo ", GLOO_VERSION_MAJOR, ".", GLOO_VERSION_MINOR, ".", GLOO_VERSION_PATCH)},
                {"device", device_ ? device_->str() : "none: there is one rank"},
                {"progress", "blocks; a thread of gloo's own does the I/O"},
                {"timeout", base::format(base::Nanoseconds{patience_})},
                {"half_precision", "operation of our own"}};
    }

 private:
    bool alone() const { return job_.size == 1; }

    static void copy(std::span<const std::byte> from, std::span<std::byte> to)
    {
        std::copy(from.begin(), from.end(), to.begin());
    }

    // A number that no collective uses. Messages between two ranks keep their order.
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

    base::JobRank job_;
    milliseconds patience_;
    std::shared_ptr<gloo::transport::Device> device_;  // null, as the next one, if there is one rank
    std::shared_ptr<gloo::Context> context_;
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
    if (!host.empty() && !interface.empty())
        base::fail_usage("gloo: host and interface say the same, give one of them");
    const auto timeout = std::chrono::duration_cast<milliseconds>(settings.get<base::Nanoseconds>("timeout"));
    if (timeout.count() <= 0) base::fail_usage("gloo[timeout]: must be a millisecond or longer");
    const fs::path store = settings.given("store") ? fs::path{settings.text("store")} : plan.run;
    return std::make_unique<GlooTransport>(store / job_name(), host, interface, timeout);
}

}  // namespace

extern const TransportCard gloo_transport;
const TransportCard gloo_transport{
    .name = "gloo",
    .summary = "Gloo over TCP, without MPI: ranks as mpirun, srun or torchrun number them",
    .offers = {&host_exchange},
    .options = {{"store", "", "directory that all ranks see, where they find each other; if not given that of the run"},
                {"host", "",
                 "this host's name or address for the others; if not given its own name, or 127.0.0.1 if "
                 "all ranks are on it"},
                {"interface", "", "network interface instead of a host: eth0"},
                {"timeout", "10min", "how long to wait for another rank before giving up"}},
    .make = make,
};

}  // namespace ddl

#endif
