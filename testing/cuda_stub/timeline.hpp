// SPDX-License-Identifier: Apache-2.0
// Time of the GPU's engines: each executes one task after the other, for all processes.
#pragma once

#include <cstdint>

namespace cuda_stub {

constexpr int most_devices = 8;

enum Engine { kernels, to_device, to_host, inside, engines };

// Environment variables of the stub:
//   CUDA_STUB_DEVICES    GPUs there are; 1 if not given, 0: cuInit finds none
//   CUDA_STUB_MEMORY     bytes of each; 1 GiB if not given
//   CUDA_STUB_BANDWIDTH  bytes that a copy to or from the host moves in a second; 10^10 if not given. Inside the device
//                        ten times that
//   CUDA_STUB_KERNEL_NS  how long a kernel takes whose name does not end in "_ns"; 100,000 if not given. Others take as
//                        long as their first parameter says, 64 bits without sign
//   CUDA_STUB_STATE      a file by which processes share the GPUs: their time and memory. If not given: none do
//   CUDA_STUB_LOG        a file to which each process appends a line of JSON in the end: what it asked of the GPUs
std::int64_t setting(const char* variable, std::int64_t otherwise);

std::int64_t now_ns();  // CLOCK_MONOTONIC

// Occupies the engine for this long once it is free. Returns when that ends; sleep_until() waits for it.
std::int64_t reserve(int device, Engine engine, std::int64_t length_ns);
void sleep_until(std::int64_t time_ns);

// Bytes in use on the device by all who share it. Whether so many more (or fewer) fit.
std::int64_t bytes_in_use(int device);
bool use_bytes(int device, std::int64_t more);

// Counts of calls of this process.
struct Counts {
    std::int64_t kernels = 0;
    std::int64_t bytes_to_device = 0;
    std::int64_t bytes_to_host = 0;
    std::int64_t bytes_inside = 0;
    std::int64_t pageable_bytes = 0;      // of those to and from the host: not pinned
    std::int64_t copies_beside_work = 0;  // that began while a kernel ran
    std::int64_t most_bytes = 0;          // in use at once, on one device
};
void count(std::int64_t Counts::*what, std::int64_t more);

}  // namespace cuda_stub
