// SPDX-License-Identifier: Apache-2.0
// Memory of the stub's GPUs, and pinned memory of the host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_stub {

// The address of new memory on that device, which this process cannot read or write by it; 0: it does not fit.
std::uint64_t allocate(int device, std::size_t bytes);
bool release(std::uint64_t address);

// Where the process can read and write what lies there; null if the device has no such memory, or less of it.
void* reachable(std::uint64_t address, std::size_t bytes);

// The device of such memory; -1: of none.
int device_of(std::uint64_t address);

void* allocate_pinned(std::size_t bytes);
bool release_pinned(void* memory);
bool is_pinned(const void* memory, std::size_t bytes);

}  // namespace cuda_stub
