// SPDX-License-Identifier: Apache-2.0
// GPU work of this process: its context, memory on the GPU and the host, and a queue that is kept short.
#pragma once

#include "base/error.hpp"
#include "base/gpu/cuda_driver.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace noisegen {

namespace cuda = base::cuda;

// This process's context on a GPU. All objects share one context, which the first creates and the last releases. It
// takes some hundred megabytes of the GPU, even while no stressor is on.
class GpuContext {
 public:
    // Creates the context for the calling thread. Threads sleep while they wait for the GPU. Throws Error.
    explicit GpuContext(int number) : number_{number}
    {
        const cuda::Driver& driver = cuda::driver();
        cuda::check(driver.device(&device_, number), "find the GPU");
        // Fails if the context exists already; then noisegen has created it with these flags.
        static_cast<void>(driver.context_flags(device_, cuda::context_blocking_sync));
        const cuda::Result code = driver.retain_context(&context_, device_);
        if (code != cuda::success)
            base::fail("GPU ", number, " has no memory for another context: ", cuda::error_text(code));
        use();
    }

    ~GpuContext() { cuda::driver().release_context(device_); }

    GpuContext(const GpuContext&) = delete;
    GpuContext& operator=(const GpuContext&) = delete;

    // Makes this GPU the one that the calling thread's CUDA calls use.
    void use() const { cuda::check(cuda::driver().use_context(context_), "use the GPU"); }

    struct Memory {
        std::size_t free = 0;  // bytes not used by any process; this context counts as used
        std::size_t total = 0;
    };

    Memory memory() const
    {
        Memory memory;
        cuda::check(cuda::driver().memory_info(&memory.free, &memory.total), "query the free memory of the GPU");
        return memory;
    }

    // "GPU 0 (NVIDIA H100, 0000:17:00.0)".
    std::string name() const
    {
        return base::join("GPU ", number_, " (", cuda::device_name(number_), ", ", cuda::pci_id(number_), ")");
    }

 private:
    int number_;
    cuda::Device device_ = 0;
    cuda::Context context_ = nullptr;
};

// Memory as text: "71.2 of 81.6 GB of GPU memory free; ..".
inline std::string text_of(const GpuContext::Memory& memory)
{
    const auto gigabytes = [](std::size_t bytes) { return std::round(static_cast<double>(bytes) * 1e-8) / 10.0; };
    return base::join(gigabytes(memory.free), " of ", gigabytes(memory.total),
                      " GB of GPU memory free; the CUDA context remains while the noise is off");
}

// Memory of a GPU. Throws Error.
class GpuMemory {
 public:
    explicit GpuMemory(std::size_t bytes)
    {
        cuda::check(cuda::driver().allocate(&address_, bytes), "allocate GPU memory");
    }

    ~GpuMemory() { cuda::driver().free(address_); }

    GpuMemory(const GpuMemory&) = delete;
    GpuMemory& operator=(const GpuMemory&) = delete;

    cuda::Address at(std::size_t offset) const { return address_ + offset; }

 private:
    cuda::Address address_ = 0;
};

// Host memory that the GPU reads and writes directly. Throws Error.
class PinnedMemory {
 public:
    explicit PinnedMemory(std::size_t bytes)
    {
        cuda::check(cuda::driver().allocate_host(&data_, bytes, 0), "allocate pinned memory");
    }

    ~PinnedMemory() { cuda::driver().free_host(data_); }

    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
    void* data_ = nullptr;
};

// A stream with only a few pieces of work in flight, so that all submitted work is done soon.
class GpuQueue {
 public:
    GpuQueue()
    {
        const cuda::Driver& driver = cuda::driver();
        cuda::check(driver.create_stream(&stream_, cuda::stream_non_blocking), "create a CUDA stream");
        for (cuda::Event& event : done_)
            cuda::check(driver.create_event(&event, cuda::event_blocking_sync | cuda::event_disable_timing),
                        "create a CUDA event");
    }

    ~GpuQueue()
    {
        const cuda::Driver& driver = cuda::driver();
        for (const cuda::Event event : done_) driver.destroy_event(event);
        driver.destroy_stream(stream_);
    }

    GpuQueue(const GpuQueue&) = delete;
    GpuQueue& operator=(const GpuQueue&) = delete;

    // Sleeps until there is room in the queue; then `piece(stream)` must submit its work.
    template <class Piece>
    void hand_in(const Piece& piece)
    {
        if (handed_in_ >= most_pieces)
            cuda::check(cuda::driver().synchronize_event(done_[handed_in_ % most_pieces]), "wait for the GPU");
        piece(stream_);
        cuda::check(cuda::driver().record_event(done_[handed_in_ % most_pieces], stream_), "record a CUDA event");
        ++handed_in_;
    }

    // Sleeps until all submitted work is done.
    void drain() { cuda::check(cuda::driver().synchronize_stream(stream_), "synchronise with the GPU"); }

 private:
    static constexpr std::size_t most_pieces = 3;

    cuda::Stream stream_ = nullptr;
    std::array<cuda::Event, most_pieces> done_{};
    std::uint64_t handed_in_ = 0;
};

}  // namespace noisegen
