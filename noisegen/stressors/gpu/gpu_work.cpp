// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/gpu/gpu_work.hpp"

#include "base/error.hpp"

#include <cmath>

namespace noisegen {

namespace cuda = base::cuda;

GpuContext::GpuContext(int number) : number_{number}
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

GpuContext::~GpuContext()
{
    cuda::driver().release_context(device_);
}

void GpuContext::use() const
{
    cuda::check(cuda::driver().use_context(context_), "use the GPU");
}

GpuContext::Memory GpuContext::memory() const
{
    Memory memory;
    cuda::check(cuda::driver().memory_info(&memory.free, &memory.total), "query the free memory of the GPU");
    return memory;
}

std::string GpuContext::name() const
{
    return base::join("GPU ", number_, " (", cuda::device_name(number_), ", ", cuda::pci_id(number_), ")");
}

std::string text_of(const GpuContext::Memory& memory)
{
    const auto gigabytes = [](std::size_t bytes) { return std::round(static_cast<double>(bytes) * 1e-8) / 10.0; };
    return base::join(gigabytes(memory.free), " of ", gigabytes(memory.total),
                      " GB of GPU memory free; the CUDA context remains while the noise is off");
}

GpuMemory::GpuMemory(std::size_t bytes)
{
    cuda::check(cuda::driver().allocate(&address_, bytes), "allocate GPU memory");
}

GpuMemory::~GpuMemory()
{
    cuda::driver().free(address_);
}

PinnedMemory::PinnedMemory(std::size_t bytes)
{
    cuda::check(cuda::driver().allocate_host(&data_, bytes, 0), "allocate pinned memory");
}

PinnedMemory::~PinnedMemory()
{
    cuda::driver().free_host(data_);
}

GpuQueue::GpuQueue()
{
    const cuda::Driver& driver = cuda::driver();
    cuda::check(driver.create_stream(&stream_, cuda::stream_non_blocking), "create a CUDA stream");
    for (cuda::Event& event : done_)
        cuda::check(driver.create_event(&event, cuda::event_blocking_sync | cuda::event_disable_timing),
                    "create a CUDA event");
}

GpuQueue::~GpuQueue()
{
    const cuda::Driver& driver = cuda::driver();
    for (const cuda::Event event : done_) driver.destroy_event(event);
    driver.destroy_stream(stream_);
}

void GpuQueue::drain()
{
    cuda::check(cuda::driver().synchronize_stream(stream_), "synchronise with the GPU");
}

void GpuQueue::wait_for_room()
{
    if (handed_in_ < most_pieces) return;
    cuda::check(cuda::driver().synchronize_event(done_[handed_in_ % most_pieces]), "wait for the GPU");
}

void GpuQueue::mark()
{
    cuda::check(cuda::driver().record_event(done_[handed_in_ % most_pieces], stream_), "record a CUDA event");
    ++handed_in_;
}

}  // namespace noisegen
