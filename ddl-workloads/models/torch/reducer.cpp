// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/reducer.hpp"

#include "base/error.hpp"
#include "ddl-workloads/models/torch/device/torch_device.hpp"
#include "ddl-workloads/models/torch/parameter_shards.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // since Linux 6.1, in glibc since 2.37
#endif

namespace ddl {

namespace {

using FuturePointer = c10::intrusive_ptr<c10::ivalue::Future>;

// Process group that the reducer uses for everything but buckets: rank, size, and rank 0's assignment of parameters to
// buckets.
class TransportGroup : public c10d::ProcessGroup {
 public:
    explicit TransportGroup(ExchangeThread& exchanges)
        : ProcessGroup{exchanges.rank(), exchanges.size()}, exchanges_{exchanges}
    {
    }

    const std::string getBackendName() const override { return "crosstalk"; }

    c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                             const c10d::BroadcastOptions& options) override
    {
        for (at::Tensor& tensor : tensors) {
            if (!tensor.is_contiguous()) base::fail("a tensor to broadcast is not contiguous");
            const at::Tensor host = tensor.cpu();  // no copy if the tensor is already on the host
            const std::span<std::byte> bytes{static_cast<std::byte*>(host.data_ptr()), host.nbytes()};
            exchanges_.broadcast(bytes, static_cast<int>(options.rootRank)).get();
            if (!host.is_same(tensor)) tensor.copy_(host);
        }
        return done(tensors);
    }

    // Used with a static graph: counts the ranks that use each parameter. Floats hold such counts exactly.
    c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions&) override
    {
        for (at::Tensor& tensor : tensors) {
            const at::Tensor sums = tensor.to(at::kCPU, at::kFloat).contiguous();
            const std::span<float> values{sums.data_ptr<float>(), static_cast<std::size_t>(sums.numel())};
            exchanges_.post([values](Transport& transport) { transport.sum(values); }).get();
            tensor.copy_(sums);
        }
        return done(tensors);
    }

 private:
    static c10::intrusive_ptr<c10d::Work> done(const std::vector<at::Tensor>& tensors)
    {
        std::vector<c10::Device> devices;
        for (const at::Tensor& tensor : tensors)
            if (!tensor.is_cpu()) devices.push_back(tensor.device());
        auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()), devices);
        future->markCompleted(tensors);
        return c10d::Work::create_from_future(future);
    }

    ExchangeThread& exchanges_;
};

// Moves memory in use to huge pages, except for incomplete huge pages at its ends. Ranks of a node read each other's
// buckets, for which the kernel looks up every page. Kernels without support leave the memory unchanged.
void collapse_into_huge_pages(std::span<float> memory)
{
    constexpr std::uintptr_t huge_page = std::uintptr_t{2} << 20;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::uintptr_t first = (begin + huge_page - 1) / huge_page * huge_page;
    const std::uintptr_t end = (begin + memory.size_bytes()) / huge_page * huge_page;
    if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_COLLAPSE);
}

// Called by the reducer for each bucket that is complete on this rank, on the thread of backward().
class StartHook : public c10d::CommHookInterface {
 public:
    StartHook(const TorchDevice& device, ExchangeThread& exchanges, const ParameterShards* shards, StartExchange start)
        : device_{device},
          exchanges_{exchanges},
          shards_{shards},
          start_{std::move(start)},
          on_gpu_{device.plan().number && exchanges.connect_gpus(*device.plan().number)}
    {
    }

    FuturePointer runHook(c10d::GradBucket& bucket) override
    {
        const at::Tensor& gradients = bucket.getBuffer();
        const FuturePointer averaged = device_.future();
        if (on_gpu_)
            start_on_gpu(bucket, gradients, averaged);
        else if (device_.is_apart())
            start_by_way_of_host(bucket, gradients, averaged);
        else
            start_in_place(bucket, gradients, averaged);
        return averaged;
    }

    at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }

 private:
    Bucket exchanged(const c10d::GradBucket& bucket, const at::Tensor& host) const
    {
        return {.index = bucket.getIndex(),
                .gradients = {host.data_ptr<float>(), static_cast<std::size_t>(host.numel())},
                .last = bucket.isLast(),
                .parts = shards_ != nullptr ? shards_->parts_of(bucket.getParameters()) : std::vector<ShardPart>{}};
    }

    void start_in_place(const c10d::GradBucket& bucket, const at::Tensor& gradients, const FuturePointer& averaged)
    {
        const Bucket ours = exchanged(bucket, gradients);
        if (std::exchange(memory_[ours.index], ours.gradients.data()) != ours.gradients.data())
            collapse_into_huge_pages(ours.gradients);
        start_(ours, [averaged, gradients](const std::exception_ptr& failure) {
            if (failure)
                averaged->setError(failure);
            else
                averaged->markCompleted(gradients);
        });
    }

    // Backward continues while the exchange stream waits for the bucket and for the other ranks.
    void start_on_gpu(const c10d::GradBucket& bucket, const at::Tensor& gradients, const FuturePointer& averaged)
    {
        const GpuNumbers numbers{.address = reinterpret_cast<base::cuda::Address>(gradients.data_ptr<float>()),
                                 .count = static_cast<std::size_t>(gradients.numel()),
                                 .stream = device_.exchange_stream()};
        if (bucket.isLast() && device_.plan().sync_phases) device_.finish();
        start_({.index = bucket.getIndex(), .gradients = {}, .last = bucket.isLast(), .on_gpu = numbers},
               [this, averaged, gradients](const std::exception_ptr& failure) {
                   if (failure)
                       averaged->setError(failure);
                   else
                       device_.complete_exchange(averaged, gradients);
               });
    }

    // The transport thread waits for the copy to the host, exchanges the copy, and starts the copy back to the device.
    void start_by_way_of_host(const c10d::GradBucket& bucket, const at::Tensor& gradients,
                              const FuturePointer& averaged)
    {
        at::Tensor& host = copies_[bucket.getIndex()];
        if (!host.defined() || host.numel() != gradients.numel()) host = device_.host_memory(gradients);
        const std::shared_ptr<Arrival> arrival = device_.to_host(gradients, host);
        const auto lost = std::make_shared<std::exception_ptr>();
        exchanges_.post([arrival, lost](Transport&) {
            try {
                arrival->wait();
            } catch (...) {
                *lost = std::current_exception();
            }
        });
        if (bucket.isLast() && device_.plan().sync_phases) device_.finish();
        start_(exchanged(bucket, host), [this, averaged, host, gradients, lost](const std::exception_ptr& failure) {
            try {
                if (failure) std::rethrow_exception(failure);
                if (*lost) std::rethrow_exception(*lost);
                device_.complete(averaged, host, gradients);
            } catch (...) {
                averaged->setError(std::current_exception());
            }
        });
    }

    const TorchDevice& device_;
    ExchangeThread& exchanges_;
    const ParameterShards* shards_;
    StartExchange start_;
    bool on_gpu_;                                 // buckets are exchanged by NCCL
    std::map<std::uint64_t, float*> memory_;      // of each bucket; changes when the reducer rebuilds buckets
    std::map<std::uint64_t, at::Tensor> copies_;  // host copy of each bucket on a device
};

// Initial buckets, in the order in which backward will probably complete them: the reverse order of the parameters.
std::vector<std::vector<std::size_t>> bucket_assignment(const std::vector<torch::Tensor>& parameters,
                                                        const BucketCaps& caps)
{
    const std::vector<std::size_t> limits{static_cast<std::size_t>(caps.first_bytes),
                                          static_cast<std::size_t>(caps.bytes)};
    auto [buckets, bucket_limits] = c10d::compute_bucket_assignment_by_size(parameters, limits);
    std::reverse(buckets.begin(), buckets.end());
    return buckets;
}

// The constructor's parameters differ between versions of LibTorch: 1.13 also takes a limit for each bucket, and 2.15
// has added parameters without defaults.
template <class Real>
std::unique_ptr<Real> construct(const std::vector<torch::Tensor>& parameters, const BucketCaps& caps,
                                c10::intrusive_ptr<c10d::ProcessGroup> group)
{
    using Parameters = std::vector<torch::Tensor>;
    using Buckets = std::vector<std::vector<std::size_t>>;
    using Limits = std::vector<std::size_t>;
    using Names = std::unordered_map<std::size_t, std::string>;
    using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
    using Dense = std::vector<bool>;
    using Bytes = std::int64_t;
    Buckets buckets = bucket_assignment(parameters, caps);
    const Dense dense(parameters.size(), false);
    if constexpr (std::is_constructible_v<Real, Parameters, Buckets, Limits, Group, Dense, Bytes, bool, bool, Names,
                                          Bytes>) {
        const Limits limits(buckets.size(), static_cast<std::size_t>(caps.bytes));
        return std::make_unique<Real>(parameters, std::move(buckets), limits, std::move(group), dense, caps.bytes,
                                      false, caps.view, Names{}, caps.first_bytes);
    } else if constexpr (std::is_constructible_v<Real, Parameters, Buckets, Group, Dense, Bytes, bool, bool, Names,
                                                 Bytes>) {
        return std::make_unique<Real>(parameters, std::move(buckets), std::move(group), dense, caps.bytes, false,
                                      caps.view, Names{}, caps.first_bytes);
    } else {
        constexpr bool skip_unused = false;
        constexpr bool python_reducer = false;
        const std::vector<std::int64_t> cap_of_each_bucket;  // empty: no individual limits
        return std::make_unique<Real>(parameters, std::move(buckets), std::move(group), dense, caps.bytes, false,
                                      caps.view, Names{}, caps.first_bytes, skip_unused, python_reducer,
                                      cap_of_each_bucket);
    }
}

class C10dReducer : public Reducer {
 public:
    C10dReducer(const std::vector<torch::Tensor>& parameters, const BucketCaps& caps, const TorchDevice& device,
                ExchangeThread& exchanges, const ParameterShards* shards, StartExchange start)
        : real_{construct<c10d::Reducer>(parameters, caps, c10::make_intrusive<TransportGroup>(exchanges))},
          logger_{std::make_shared<c10d::Logger>(real_)},
          learns_graph_{caps.static_graph}
    {
        real_->set_logger(logger_);
        logger_->set_construction_data_and_log("ddl-train", {}, -1, false, false, caps.static_graph);
        if (caps.static_graph) real_->set_static_graph();
        real_->register_comm_hook(std::make_unique<StartHook>(device, exchanges, shards, std::move(start)));
    }

    void before_forward() override
    {
        logger_->set_runtime_stats_and_log();  // statistics of the previous step
        real_->rebuild_buckets();  // acts once, after the first step: orders buckets as gradients really became ready
        real_->prepare_for_forward();
    }

    void before_backward(const torch::Tensor& loss) override
    {
        real_->prepare_for_backward({});
        if (!std::exchange(learns_graph_, false)) return;
        // With a static graph, the first backward only records the graph, and its buckets are exchanged when it has
        // ended.
        loss.register_hook([this](const at::Tensor&) {
            torch::autograd::Engine::get_default_engine().queue_callback([this] { real_->delay_all_reduce(); });
        });
    }

    nlohmann::ordered_json logged() override
    {
        const auto data = logger_->get_ddp_logging_data();
        nlohmann::ordered_json json;
        for (const std::string name : {"avg_forward_compute_time", "avg_backward_compute_time",
                                       "avg_backward_comm_time", "avg_backward_compute_comm_overlap_time"})
            if (const auto found = data.ints_map.find(name); found != data.ints_map.end()) json[name] = found->second;
        return json;
    }

 private:
    std::shared_ptr<c10d::Reducer> real_;
    std::shared_ptr<c10d::Logger> logger_;
    bool learns_graph_;  // the next backward records the graph
};

}  // namespace

std::unique_ptr<Reducer> make_reducer(const std::vector<torch::Tensor>& parameters, const BucketCaps& caps,
                                      const TorchDevice& device, ExchangeThread& exchanges,
                                      const ParameterShards* shards, StartExchange start)
{
    return std::make_unique<C10dReducer>(parameters, caps, device, exchanges, shards, std::move(start));
}

}  // namespace ddl
