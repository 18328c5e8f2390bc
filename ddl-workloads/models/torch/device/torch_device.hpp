// The device that a network computes on, and the copies between its memory and the host's: on streams of their own,
// beside the stream that computes. It knows no CUDA: LibTorch's events and streams are of any device that is loaded.
#pragma once

#include "ddl-workloads/devices/device_plan.hpp"

#include <ATen/core/ivalue.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace ddl {

// A copy to the host's memory that is under way.
class Arrival {
 public:
    virtual ~Arrival() = default;
    // Until it is there. On any thread, once; throws what the device says.
    virtual void wait() = 0;
};

class TorchDevice {
 public:
    // Throws Unavailable if this LibTorch, or this machine, cannot compute there.
    explicit TorchDevice(const DevicePlan& plan);

    const torch::Device& place() const { return place_; }
    const DevicePlan& plan() const { return plan_; }

    // Whether a tensor's memory is to be read and written by way of a copy in the host's.
    bool is_apart(const torch::Tensor& tensor) const;
    bool is_apart() const { return plan_.kind != DeviceKind::cpu; }

    // As many bytes of the host's, which a GPU reads and writes by itself (pinned).
    torch::Tensor host_memory(const torch::Tensor& like) const;

    // Both return at once, if the host's memory is pinned. The copy follows what this thread has queued so far; what it
    // queues from now on follows the copy to the device.
    std::unique_ptr<Arrival> to_host(const torch::Tensor& from, const torch::Tensor& to) const;
    void to_device(const torch::Tensor& from, const torch::Tensor& to) const;

    // A new tensor there, beside what is computed: only what this thread queues from now on follows it.
    torch::Tensor moved(const torch::Tensor& from) const;

    // From a thread that computes nothing: copies beside what is computed, and completes the future with `to`; whoever
    // waits for that follows the copy.
    using Future = c10::intrusive_ptr<c10::ivalue::Future>;
    Future future() const;
    void complete(const Future& future, const torch::Tensor& from, const torch::Tensor& to) const;

    // .. without a copy: it is completed with `value` as it will be on the stream that exchanges. What this thread
    // queued there before, by exchange_here(), is done by then for whoever waits.
    void complete_exchange(const Future& future, const torch::Tensor& value) const;

    // The stream on which numbers of the device are exchanged, as CUDA knows it (cudaStream_t): behind what this thread
    // has queued so far. Throws Unavailable of a LibTorch that does not tell.
    void* exchange_here() const;

    // Until all that this thread has queued is done.
    void finish() const;

    // The most that tensors took of the device at any time. None of the CPU, and before LibTorch 2.10.
    std::optional<std::int64_t> peak_memory_bytes() const;

 private:
    struct Streams {
        c10::Stream to_host;
        c10::Stream to_device;
        c10::Stream waiting;  // of the host, for an event
        c10::Stream exchange;
    };

    DevicePlan plan_;
    torch::Device place_;
    std::optional<Streams> streams_;  // none: copies are made at once
};

// Operators that gain from it compute in 16 bits (bfloat16) until the brace, if that is asked for.
class Autocast {
 public:
    explicit Autocast(const TorchDevice& device);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

 private:
    c10::DeviceType device_;
    bool on_;
};

}  // namespace ddl
