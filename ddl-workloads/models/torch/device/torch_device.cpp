// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/device/torch_device.hpp"

#include "base/error.hpp"

#include <ATen/autocast_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdlib>
#include <utility>

#define CROSSTALK_TORCH_SINCE(major, minor) \
    (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

#if CROSSTALK_TORCH_SINCE(2, 10)
#include <c10/core/CachingDeviceAllocator.h>
#endif

namespace ddl {

namespace {

// The error's first line, without the file and line in LibTorch and the lines about debugging.
std::string first_line(const c10::Error& error)
{
    const std::string text = error.what_without_backtrace();
    return text.substr(0, text.find('\n'));
}

torch::Device place_of(const DevicePlan& plan)
{
    if (plan.kind != DeviceKind::cuda) return torch::kCPU;
    if (!at::hasCUDA())
        base::unavailable("--device ", text(plan),
                          ": this LibTorch has no GPU support, or not for this driver (see docs/installing.md)");
    const torch::Device place{torch::kCUDA, static_cast<c10::DeviceIndex>(plan.number.value_or(0))};
    try {
        c10::impl::VirtualGuardImpl{place.type()}.setDevice(place);
        torch::empty({1}, place);
    } catch (const c10::Error& error) {
        base::unavailable("--device ", text(plan), ": ", first_line(error));
    }
    return place;
}

c10::Stream current_stream(const torch::Device& device)
{
    return c10::impl::VirtualGuardImpl{device.type()}.getStream(device);
}

c10::Stream new_stream(const torch::Device& device)
{
    return c10::impl::VirtualGuardImpl{device.type()}.getStreamFromGlobalPool(device);
}

c10::Event end_of(const c10::Stream& stream)
{
    c10::Event event{stream.device_type()};
    event.record(stream);
    return event;
}

template <class Stream>
void* native_handle(const Stream& stream)
{
    if constexpr (requires { stream.native_handle(); })
        return stream.native_handle();
    else
        base::unavailable("--transport nccl: this LibTorch does not expose CUDA streams; use a later one, or gloo");
}

#if CROSSTALK_TORCH_SINCE(2, 4)
void set_autocast(c10::DeviceType device, bool on)
{
    at::autocast::set_autocast_dtype(device, at::kBFloat16);
    at::autocast::set_autocast_enabled(device, on);
}
#else
void set_autocast(c10::DeviceType device, bool on)
{
    if (device == c10::kCPU) {
        at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
        at::autocast::set_cpu_enabled(on);
    } else {
        at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
        at::autocast::set_enabled(on);
    }
}
#endif

// Call before the GPU's first matrix product. LibTorch warns on stderr about operators that have no deterministic
// algorithm.
void want_same_bits()
{
    constexpr bool warn_only = true;
    ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    at::globalContext().setDeterministicCuDNN(true);
    at::globalContext().setDeterministicAlgorithms(true, warn_only);
}

// Copies only in wait(), so that code which forgets to wait reads wrong numbers in tests on the CPU (staged).
class LateArrival : public Arrival {
 public:
    LateArrival(torch::Tensor from, torch::Tensor to) : from_{std::move(from)}, to_{std::move(to)} {}
    void wait() override { to_.copy_(from_); }

 private:
    torch::Tensor from_;
    torch::Tensor to_;
};

class EventArrival : public Arrival {
 public:
    EventArrival(c10::Event event, c10::Stream waiting, torch::Tensor from, torch::Tensor to)
        : event_{std::move(event)}, waiting_{waiting}, from_{std::move(from)}, to_{std::move(to)}
    {
    }
    void wait() override
    {
        event_.block(waiting_);
        waiting_.synchronize();
    }

 private:
    c10::Event event_;
    c10::Stream waiting_;
    torch::Tensor from_;  // keeps its memory until the copy is complete
    torch::Tensor to_;
};

}  // namespace

TorchDevice::TorchDevice(const DevicePlan& plan) : plan_{plan}, place_{place_of(plan)}
{
    if (plan_.kind != DeviceKind::cuda) return;
    if (plan_.deterministic) want_same_bits();
    streams_.emplace(Streams{new_stream(place_), new_stream(place_), new_stream(place_), new_stream(place_)});
    // LibTorch's defaults: TF32 is on for convolutions and off for matrix products.
    at::globalContext().setAllowTF32CuDNN(plan_.compute == Compute::tf32);
    at::globalContext().setAllowTF32CuBLAS(plan_.compute == Compute::tf32);
}

bool TorchDevice::is_apart(const torch::Tensor& tensor) const
{
    return plan_.kind == DeviceKind::staged || (is_apart() && tensor.device() == place_);
}

torch::Tensor TorchDevice::host_memory(const torch::Tensor& like) const
{
    return torch::empty(like.sizes(), like.options().device(torch::kCPU).pinned_memory(streams_.has_value()));
}

std::unique_ptr<Arrival> TorchDevice::to_host(const torch::Tensor& from, const torch::Tensor& to) const
{
    const torch::NoGradGuard no_gradients;
    if (!streams_) return std::make_unique<LateArrival>(from.detach(), to);
    end_of(current_stream(place_)).block(streams_->to_host);
    const c10::StreamGuard beside{streams_->to_host};
    to.copy_(from, true);
    return std::make_unique<EventArrival>(end_of(streams_->to_host), streams_->waiting, from, to);
}

void TorchDevice::to_device(const torch::Tensor& from, const torch::Tensor& to) const
{
    const torch::NoGradGuard no_gradients;
    to.detach().copy_(from, true);
}

torch::Tensor TorchDevice::moved(const torch::Tensor& from) const
{
    if (!streams_) return is_apart() ? from.clone() : from;
    const torch::Tensor pinned = host_memory(from);
    pinned.copy_(from);
    const c10::Stream computes = current_stream(place_);
    torch::Tensor there;
    {
        const c10::StreamGuard beside{streams_->to_device};
        there = pinned.to(place_, true);
        end_of(streams_->to_device).block(computes);
    }
    there.record_stream(computes);  // the allocator must know that another stream uses the memory
    return there;
}

TorchDevice::Future TorchDevice::future() const
{
    std::vector<c10::Device> devices;
    if (streams_) devices.push_back(place_);
    return c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get(), std::move(devices));
}

void TorchDevice::complete(const Future& future, const torch::Tensor& from, const torch::Tensor& to) const
{
    std::optional<c10::StreamGuard> beside;
    if (streams_) beside.emplace(streams_->to_device);
    to_device(from, to);
    future->markCompleted(to);
}

void TorchDevice::complete_exchange(const Future& future, const torch::Tensor& value) const
{
    const c10::StreamGuard there{streams_->exchange};
    future->markCompleted(value);
}

void* TorchDevice::exchange_stream() const
{
    end_of(current_stream(place_)).block(streams_->exchange);
    return native_handle(streams_->exchange);
}

void TorchDevice::finish() const
{
    if (streams_) current_stream(place_).synchronize();
}

std::optional<std::int64_t> TorchDevice::peak_memory_bytes() const
{
#if CROSSTALK_TORCH_SINCE(2, 10)
    if (streams_)
        return c10::getDeviceAllocator(place_.type())->getDeviceStats(place_.index()).allocated_bytes.front().peak;
#endif
    return std::nullopt;
}

Autocast::Autocast(const TorchDevice& device)
    : device_{device.place().type()}, on_{device.plan().compute == Compute::bf16}
{
    if (!on_) return;
    set_autocast(device_, true);
    at::autocast::increment_nesting();
}

Autocast::~Autocast()
{
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    set_autocast(device_, false);
}

}  // namespace ddl
