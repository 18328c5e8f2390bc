// SPDX-License-Identifier: Apache-2.0
// GPU work of this process: its context, memory on the GPU and the host, and a queue that is kept short.
#pragma once

#include "base/gpu/cuda_driver.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace noisegen {

// This process's context on a GPU. All objects share one context, which the first creates and the last releases. It
// takes some hundred megabytes of the GPU, even while no stressor is on.
class GpuContext {
 public:
    // Creates the context for the calling thread. Threads sleep while they wait for the GPU. Throws Error.
    explicit GpuContext(int number);
    ~GpuContext();
    GpuContext(const GpuContext&) = delete;
    GpuContext& operator=(const GpuContext&) = delete;

    // Makes this GPU the one that the calling thread's CUDA calls use.
    void use() const;

    struct Memory {
        std::size_t free = 0;  // bytes not used by any process; this context counts as used
        std::size_t total = 0;
    };
    Memory memory() const;

    // "GPU 0 (NVIDIA H100, 0000:17:00.0)".
    std::string name() const;

 private:
    int number_;
    base::cuda::Device device_ = 0;
    base::cuda::Context context_ = nullptr;
};

// Memory as text: "71.2 of 81.6 GB of GPU memory free; ..".
std::string text_of(const GpuContext::Memory& memory);

// Memory of a GPU. Throws Error.
class GpuMemory {
 public:
    explicit GpuMemory(std::size_t bytes);
    ~GpuMemory();
    GpuMemory(const GpuMemory&) = delete;
    GpuMemory& operator=(const GpuMemory&) = delete;

    base::cuda::Address at(std::size_t offset) const { return address_ + offset; }

 private:
    base::cuda::Address address_ = 0;
};

// Host memory that the GPU reads and writes directly. Throws Error.
class PinnedMemory {
 public:
    explicit PinnedMemory(std::size_t bytes);
    ~PinnedMemory();
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
    void* data_ = nullptr;
};

// A stream with only a few pieces of work in flight, so that all submitted work is done soon.
class GpuQueue {
 public:
    GpuQueue();
    ~GpuQueue();
    GpuQueue(const GpuQueue&) = delete;
    GpuQueue& operator=(const GpuQueue&) = delete;

    // Sleeps until there is room in the queue; then `piece(stream)` must submit its work.
    template <class Piece>
    void hand_in(const Piece& piece)
    {
        wait_for_room();
        piece(stream_);
        mark();
    }

    // Sleeps until all submitted work is done.
    void drain();

 private:
    static constexpr std::size_t most_pieces = 3;
    void wait_for_room();
    void mark();

    base::cuda::Stream stream_ = nullptr;
    std::array<base::cuda::Event, most_pieces> done_{};
    std::uint64_t handed_in_ = 0;
};

}  // namespace noisegen
