// SPDX-License-Identifier: Apache-2.0
// Memory of the stub's GPUs, and pinned host memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_stub {

// Allocates memory on a device. Returns an address that this process cannot access directly; 0 if the memory does not
// fit.
std::uint64_t allocate(int device, std::size_t bytes);
bool release(std::uint64_t address);

// A pointer to the contents of `bytes` of device memory; null if the range is not inside one allocation.
void* reachable(std::uint64_t address, std::size_t bytes);

// Device to whose memory the address belongs; -1: none.
int device_of(std::uint64_t address);

void* allocate_pinned(std::size_t bytes);
bool release_pinned(void* memory);
bool is_pinned(const void* memory, std::size_t bytes);

}  // namespace cuda_stub
