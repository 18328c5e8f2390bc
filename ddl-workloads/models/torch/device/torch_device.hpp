// SPDX-License-Identifier: Apache-2.0
// The device that a network computes on, and copies between its memory and the host's. Copies run on their own streams,
// next to the stream that computes. Uses LibTorch's events and streams, and includes no CUDA headers.
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

// A copy to host memory that is under way.
class Arrival {
 public:
    virtual ~Arrival() = default;
    // Waits until the copy is complete. May be called on any thread, but only once. Throws the device's error.
    virtual void wait() = 0;
};

class TorchDevice {
 public:
    // Throws Unavailable if this LibTorch or this machine cannot compute on that device.
    explicit TorchDevice(const DevicePlan& plan);

    const torch::Device& place() const { return place_; }
    const DevicePlan& plan() const { return plan_; }

    // True if the tensor is in device memory, so that the host reads and writes a copy.
    bool is_apart(const torch::Tensor& tensor) const;
    bool is_apart() const { return plan_.kind != DeviceKind::cpu; }

    // Host memory with the shape and type of `like`; pinned if the device is a GPU.
    torch::Tensor host_memory(const torch::Tensor& like) const;

    // Both return immediately if the host's memory is pinned. The copy starts after the work that this thread has
    // queued so far. Work that it queues later starts after the copy to the device.
    std::unique_ptr<Arrival> to_host(const torch::Tensor& from, const torch::Tensor& to) const;
    void to_device(const torch::Tensor& from, const torch::Tensor& to) const;

    // A copy in device memory, made on a separate stream. Only work that this thread queues later waits for it.
    torch::Tensor moved(const torch::Tensor& from) const;

    // For a thread that does not compute: copies `from` to `to` on a separate stream and completes the future with
    // `to`. Waiting for the future includes waiting for the copy.
    using Future = c10::intrusive_ptr<c10::ivalue::Future>;
    Future future() const;
    void complete(const Future& future, const torch::Tensor& from, const torch::Tensor& to) const;

    // Completes the future with `value`. Waiting for the future includes waiting for all work queued so far on the
    // exchange stream.
    void complete_exchange(const Future& future, const torch::Tensor& value) const;

    // The exchange stream (cudaStream_t). From this call on it waits for the work that this thread has queued so far.
    // Throws Unavailable if this LibTorch does not expose stream handles.
    void* exchange_stream() const;

    // Waits until the device has done all work that this thread has queued.
    void finish() const;

    // Peak device memory used by tensors, in bytes. None on the CPU, and before LibTorch 2.10.
    std::optional<std::int64_t> peak_memory_bytes() const;

 private:
    struct Streams {
        c10::Stream to_host;
        c10::Stream to_device;
        c10::Stream waiting;  // receives an event, so that the host can wait for the event
        c10::Stream exchange;
    };

    DevicePlan plan_;
    torch::Device place_;
    std::optional<Streams> streams_;  // none: copies are made immediately
};

// Enables autocast to bfloat16 for its lifetime, if the plan asks for bf16.
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
