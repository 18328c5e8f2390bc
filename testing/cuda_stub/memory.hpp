// SPDX-License-Identifier: Apache-2.0
// Memory of the stub's GPUs, and pinned memory of the host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_stub {

// Allocates memory on that device, and returns an address that this process cannot access directly; 0: it does not fit.
std::uint64_t allocate(int device, std::size_t bytes);
bool release(std::uint64_t address);

// Where the process can access the contents of device memory; null if the device has no such memory, or less of it.
void* reachable(std::uint64_t address, std::size_t bytes);

// Device of an address in device memory; -1: none.
int device_of(std::uint64_t address);

void* allocate_pinned(std::size_t bytes);
bool release_pinned(void* memory);
bool is_pinned(const void* memory, std::size_t bytes);

}  // namespace cuda_stub
