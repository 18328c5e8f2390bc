// SPDX-License-Identifier: Apache-2.0
// NCCL for gradients in GPU memory; another transport carries everything in host memory.
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "ddl-workloads/devices/device_plan.hpp"
#include "ddl-workloads/transports/nccl/nccl_library.hpp"
#include "ddl-workloads/transports/transport.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace ddl {

namespace {

// NCCL's communicator of the ranks' GPUs. After abort() none of its kernels waits for another rank.
class Communicator : public GpuExchange {
 public:
    Communicator(Transport& host, int number)
    {
        use_gpu(number);
        nccl::UniqueId id{};
        if (host.rank() == 0) nccl::check(nccl::library().unique_id(&id), "begin");
        host.broadcast(std::as_writable_bytes(std::span{id}), 0);
        nccl::check(nccl::library().connect(&handle_, host.size(), id, host.rank()), "connect the ranks' GPUs");
    }
    ~Communicator() override
    {
        if (handle_ != nullptr) nccl::library().disconnect(handle_);
    }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    void mean(const GpuNumbers& numbers) override
    {
        if (handle_ == nullptr) base::fail("the ranks' GPUs are no longer connected");
        nccl::Result failure = nccl::success;
        nccl::check(nccl::library().failure(handle_, &failure), "query the communicator's state");
        nccl::check(failure, "exchange gradients");
        auto* const values = reinterpret_cast<void*>(numbers.address);
        nccl::check(nccl::library().all_reduce(values, values, numbers.count, nccl::float32, nccl::mean, handle_,
                                               numbers.stream),
                    "exchange gradients");
    }

    void abort() noexcept
    {
        if (handle_ != nullptr) nccl::library().abort(handle_);
        handle_ = nullptr;
    }

 private:
    // Selects the GPU for this thread, in the CUDA context that LibTorch uses.
    static void use_gpu(int number)
    {
        const base::cuda::Driver& driver = base::cuda::driver();
        base::cuda::Device device = 0;
        base::cuda::Context context = nullptr;
        base::cuda::check(driver.device(&device, number), "find the GPU");
        base::cuda::check(driver.retain_context(&context, device), "use the GPU");
        base::cuda::check(driver.use_context(context), "use the GPU");
    }

    nccl::Communicator handle_ = nullptr;  // null: not connected
};

class NcclTransport : public Transport {
 public:
    explicit NcclTransport(std::unique_ptr<Transport> host) : host_{std::move(host)} {}

    int rank() const override { return host_->rank(); }
    int size() const override { return host_->size(); }

    void sum(std::span<float> values) override
    {
        attempt([&] { host_->sum(values); });
    }
    void sum(std::span<Half> values) override
    {
        attempt([&] { host_->sum(values); });
    }
    void mean(std::span<float> values) override
    {
        attempt([&] { host_->mean(values); });
    }
    void reduce_scatter(std::span<float> values, std::span<const int> lengths) override
    {
        attempt([&] { host_->reduce_scatter(values, lengths); });
    }
    void reduce_scatter(std::span<Half> values, std::span<const int> lengths) override
    {
        attempt([&] { host_->reduce_scatter(values, lengths); });
    }
    void bitwise_and(std::span<std::uint64_t> words) override
    {
        attempt([&] { host_->bitwise_and(words); });
    }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override
    {
        attempt([&] { host_->all_gather(mine, all); });
    }
    void all_to_all(std::span<const std::byte> mine, std::span<const int> sent_bytes, std::span<std::byte> all,
                    std::span<const int> received_bytes) override
    {
        attempt([&] { host_->all_to_all(mine, sent_bytes, all, received_bytes); });
    }
    void broadcast(std::span<std::byte> bytes, int root) override
    {
        attempt([&] { host_->broadcast(bytes, root); });
    }
    void barrier() override
    {
        attempt([&] { host_->barrier(); });
    }
    std::vector<std::string> gather(const std::string& text) override
    {
        std::vector<std::string> all;
        attempt([&] { all = host_->gather(text); });
        return all;
    }

    GpuExchange* connect_gpus(int number) override
    {
        if (!communicator_) communicator_.emplace(*host_, number);
        return &*communicator_;
    }

    std::unique_ptr<otf2::Team> team() override { return host_->team(); }
    void record(otf2::LocationRecorder* location) override { host_->record(location); }
    void abort(int code) noexcept override { host_->abort(code); }
    Mailbox& mailbox() override { return host_->mailbox(); }
    bool advance() override { return host_->advance(); }
    std::unique_ptr<Transport> group(const std::vector<int>& ranks) override { return host_->group(ranks); }

    void ask_abort(int code) noexcept override
    {
        Transport::ask_abort(code);
        host_->ask_abort(code);
    }

    nlohmann::ordered_json describe() const override
    {
        nlohmann::ordered_json json{{"name", "nccl"}};
        if (communicator_) json["library"] = "NCCL " + nccl::version();
        json["host"] = host_->describe();
        return json;
    }

 private:
    // If host ranks do not answer, neither do their GPUs, so the communicator is aborted: this rank's GPU would wait
    // for ever.
    template <class Call>
    void attempt(const Call& call)
    {
        try {
            call();
        } catch (...) {
            if (communicator_) communicator_->abort();
            throw;
        }
    }

    std::unique_ptr<Transport> host_;
    std::optional<Communicator> communicator_;
};

std::string usual_host()
{
    const std::vector<std::string> known = transports().names();
    const base::JobRank job = base::job_rank();
    if (job.size == 1 && !job.under_mpi) return "self";
    const bool has_mpi = std::find(known.begin(), known.end(), "mpi") != known.end();
    return has_mpi && job.under_mpi ? "mpi" : "gloo";
}

std::unique_ptr<Transport> make(const base::Settings& settings, const TransportPlan& plan)
{
    const std::string host = settings.given("host") ? settings.text("host") : usual_host();
    if (host == "nccl") base::fail_usage("nccl[host=nccl]: NCCL cannot exchange host memory");
    const TransportCard& card = transports().find(host);
    return std::make_unique<NcclTransport>(card.make(transports().settings(card, {}), plan));
}

}  // namespace

extern const TransportCard nccl_transport{
    .name = "nccl",
    .summary = "NCCL between the GPUs of --device cuda, for the buckets of --strategy ddp",
    .offers = {&messages, &groups},
    .needs = {&gpu},
    .options = {{"host", "", "transport for host memory (default: mpi under mpirun, else gloo; self for one rank)"}},
    .make = make,
};

}  // namespace ddl
