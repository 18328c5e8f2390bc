// SPDX-License-Identifier: Apache-2.0
// Work of this process on a GPU: its context, memory there and here, and a queue that never holds more than a little.
#pragma once

#include "base/gpu/cuda_driver.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace noisegen {

// The context of this process on a GPU, which a process has one of: it is made by the first that needs it and gone with
// the last. It takes some hundred megabytes of the GPU, and stays while nothing is on.
class GpuContext {
 public:
    // For the calling thread. Who waits for the GPU sleeps. Throws Error.
    explicit GpuContext(int number);
    ~GpuContext();
    GpuContext(const GpuContext&) = delete;
    GpuContext& operator=(const GpuContext&) = delete;

    // From now on the calling thread's calls are for this GPU.
    void use() const;

    struct Memory {
        std::size_t free = 0;  // beside what all processes have taken, this context included
        std::size_t total = 0;
    };
    Memory memory() const;

    // "GPU 0 (NVIDIA H100, 0000:17:00.0)"
    std::string name() const;

 private:
    int number_;
    base::cuda::Device device_ = 0;
    base::cuda::Context context_ = nullptr;
};

// "71.2 of 81.6 GB free beside it; its context stays while it is off"
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

// Memory of the host that the GPU reads and writes directly. Throws Error.
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

// A stream that takes work piece by piece, with few pieces in flight, so that submitted work is soon done.
class GpuQueue {
 public:
    GpuQueue();
    ~GpuQueue();
    GpuQueue(const GpuQueue&) = delete;
    GpuQueue& operator=(const GpuQueue&) = delete;

    // Waits, asleep, until there is room; then `piece(stream)` is to hand in its work.
    template <class Piece>
    void hand_in(const Piece& piece)
    {
        wait_for_room();
        piece(stream_);
        mark();
    }

    // Waits, asleep, until all is done.
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
