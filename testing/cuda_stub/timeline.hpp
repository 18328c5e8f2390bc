// SPDX-License-Identifier: Apache-2.0
// Time lines of the stub's engines: each engine executes one task at a time, for all processes that share the GPU.
#pragma once

#include <cstdint>

namespace cuda_stub {

constexpr int most_devices = 8;

enum Engine { kernels, to_device, to_host, inside, engines };

// Environment variables of the stub:
//   CUDA_STUB_DEVICES    number of GPUs (default 1); with 0, cuInit finds no device
//   CUDA_STUB_MEMORY     bytes of memory per GPU (default 1 GiB)
//   CUDA_STUB_BANDWIDTH  bytes/s of copies to and from the host (default 10^10); copies inside a GPU are ten times as
//   fast
//   CUDA_STUB_KERNEL_NS  duration of a kernel in ns (default 100,000). Kernels whose name ends in "_ns" last as long as
//                        their first parameter says, an unsigned 64-bit integer
//   CUDA_STUB_STATE      file through which processes share the GPUs' time and memory (default: not shared)
//   CUDA_STUB_LOG        file to which each process appends, at its end, one line of JSON with its Counts
std::int64_t setting(const char* variable, std::int64_t otherwise);

std::int64_t now_ns();  // CLOCK_MONOTONIC

// Reserves `length_ns` of the engine's time, as soon as it is free. Returns the end of that time without waiting for
// it.
std::int64_t reserve(int device, Engine engine, std::int64_t length_ns);
void sleep_until(std::int64_t time_ns);

// Bytes in use on the device, by all processes that share it. use_bytes() adds to them (`more` may be negative) and
// returns false, without a change, if the memory does not suffice.
std::int64_t bytes_in_use(int device);
bool use_bytes(int device, std::int64_t more);

// Requests of this process to the GPUs.
struct Counts {
    std::int64_t kernels = 0;
    std::int64_t bytes_to_device = 0;
    std::int64_t bytes_to_host = 0;
    std::int64_t bytes_inside = 0;
    std::int64_t pageable_bytes = 0;      // copied to or from memory of the host that is not pinned
    std::int64_t copies_beside_work = 0;  // copies that began while a kernel ran
    std::int64_t most_bytes = 0;          // peak memory in use on one device
};
void count(std::int64_t Counts::*what, std::int64_t more);

}  // namespace cuda_stub
