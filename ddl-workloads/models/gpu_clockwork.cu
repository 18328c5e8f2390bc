#include "base/error.hpp"
#include "ddl-workloads/models/gpu_clockwork.hpp"

#include <cuda_runtime.h>

namespace ddl {

namespace {

constexpr int threads_of_a_block = 128;

void check(cudaError_t code, const char* what)
{
    if (code != cudaSuccess) base::fail("cannot ", what, ": ", cudaGetErrorString(code));
}

__device__ unsigned long long device_time_ns()
{
    unsigned long long time = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

__global__ void keep_busy(unsigned long long length_ns)
{
    const unsigned long long begin = device_time_ns();
    while (device_time_ns() - begin < length_ns) {
    }
}

}  // namespace

GpuClockwork::GpuClockwork(int preferred)
{
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess || devices == 0) base::unavailable("there is no GPU: ", cudaGetErrorString(code));
    const int device = preferred % devices;
    check(cudaSetDevice(device), "take the GPU");
    check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "let the CPU sleep while the GPU works");
    check(cudaDeviceGetAttribute(&blocks_, cudaDevAttrMultiProcessorCount, device), "count multiprocessors");
}

GpuClockwork::~GpuClockwork()
{
    cudaDeviceSynchronize();
}

void GpuClockwork::work(std::int64_t length_ns)
{
    if (length_ns <= 0) return;
    keep_busy<<<blocks_, threads_of_a_block>>>(static_cast<unsigned long long>(length_ns));
    check(cudaGetLastError(), "start work on the GPU");
    check(cudaDeviceSynchronize(), "work on the GPU");
}

}  // namespace ddl
