// SPDX-License-Identifier: Apache-2.0
// The device that a network computes on, and the copies between its memory and the host's: on streams of their own,
// beside the stream that computes. It uses LibTorch's own events and streams, and includes nothing of CUDA.
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
    // Waits until the copy is complete. May be called on any thread, once. Throws the device's error.
    virtual void wait() = 0;
};

class TorchDevice {
 public:
    // Throws Unavailable if this LibTorch, or this machine, cannot compute there.
    explicit TorchDevice(const DevicePlan& plan);

    const torch::Device& place() const { return place_; }
    const DevicePlan& plan() const { return plan_; }

    // Whether the tensor lies in the device's memory, so that the host reads and writes a copy.
    bool is_apart(const torch::Tensor& tensor) const;
    bool is_apart() const { return plan_.kind != DeviceKind::cpu; }

    // Memory of the host, with the shape and type of `like`. Pinned if the device is a GPU.
    torch::Tensor host_memory(const torch::Tensor& like) const;

    // Both return at once if the host's memory is pinned. The copy starts after the work that this thread has queued so
    // far. Work that it queues later starts after the copy to the device.
    std::unique_ptr<Arrival> to_host(const torch::Tensor& from, const torch::Tensor& to) const;
    void to_device(const torch::Tensor& from, const torch::Tensor& to) const;

    // A copy in the device's memory, made on a stream of its own. Only work that this thread queues later waits for it.
    torch::Tensor moved(const torch::Tensor& from) const;

    // For a thread that computes nothing. Copies `from` to `to` on a stream of its own and completes the future with
    // `to`. Who waits for the future waits for the copy.
    using Future = c10::intrusive_ptr<c10::ivalue::Future>;
    Future future() const;
    void complete(const Future& future, const torch::Tensor& from, const torch::Tensor& to) const;

    // Completes the future with `value`. Who waits for the future waits for all work on the exchange stream so far.
    void complete_exchange(const Future& future, const torch::Tensor& value) const;

    // The exchange stream (cudaStream_t). It waits from now on for the work that this thread has queued so far. Throws
    // Unavailable if this LibTorch gives no handles of streams.
    void* exchange_stream() const;

    // Waits until the device has done all work that this thread has queued.
    void finish() const;

    // The peak of the device's memory in use by tensors, in bytes. None on the CPU, and before LibTorch 2.10.
    std::optional<std::int64_t> peak_memory_bytes() const;

 private:
    struct Streams {
        c10::Stream to_host;
        c10::Stream to_device;
        c10::Stream waiting;  // takes an event, so that the host can wait for it
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
