// SPDX-License-Identifier: Apache-2.0
#include "testing/cuda_stub/memory.hpp"

#include "testing/cuda_stub/timeline.hpp"

#include <cstdlib>
#include <map>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

namespace cuda_stub {

namespace {

struct Block {
    std::size_t bytes = 0;
    std::size_t mapped = 0;
    char* reachable = nullptr;
    int device = 0;
};

struct Memory {
    std::mutex mutex;
    std::map<std::uint64_t, Block> of_devices;
    std::map<const char*, std::size_t> pinned;
};

Memory& memory()
{
    static auto* const all = new Memory;
    return *all;
}

// Returns the block that contains the address, or null. Call with the lock held.
const std::pair<const std::uint64_t, Block>* block_at(std::uint64_t address)
{
    auto next = memory().of_devices.upper_bound(address);
    if (next == memory().of_devices.begin()) return nullptr;
    --next;
    return address - next->first < next->second.bytes ? &*next : nullptr;
}

}  // namespace

std::uint64_t allocate(int device, std::size_t bytes)
{
    constexpr std::size_t page = 4096;
    if (bytes == 0 || !use_bytes(device, static_cast<std::int64_t>(bytes))) return 0;
    const std::size_t mapped = (bytes + page - 1) / page * page;
    const int file = ::memfd_create("gpu", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(mapped)) != 0) std::abort();
    void* const shown = ::mmap(nullptr, mapped, PROT_NONE, MAP_SHARED, file, 0);
    void* const reachable = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (shown == MAP_FAILED || reachable == MAP_FAILED) std::abort();
    const auto address = reinterpret_cast<std::uint64_t>(shown);
    const std::lock_guard lock{memory().mutex};
    memory().of_devices[address] = {bytes, mapped, static_cast<char*>(reachable), device};
    return address;
}

bool release(std::uint64_t address)
{
    const std::lock_guard lock{memory().mutex};
    const auto found = memory().of_devices.find(address);
    if (found == memory().of_devices.end()) return false;
    const Block block = found->second;
    memory().of_devices.erase(found);
    ::munmap(reinterpret_cast<void*>(address), block.mapped);
    ::munmap(block.reachable, block.mapped);
    use_bytes(block.device, -static_cast<std::int64_t>(block.bytes));
    return true;
}

void* reachable(std::uint64_t address, std::size_t bytes)
{
    const std::lock_guard lock{memory().mutex};
    const auto* const block = block_at(address);
    if (block == nullptr) return nullptr;
    const std::size_t begin = address - block->first;
    return bytes <= block->second.bytes - begin ? block->second.reachable + begin : nullptr;
}

int device_of(std::uint64_t address)
{
    const std::lock_guard lock{memory().mutex};
    const auto* const block = block_at(address);
    return block == nullptr ? -1 : block->second.device;
}

void* allocate_pinned(std::size_t bytes)
{
    void* const block = std::malloc(bytes);
    const std::lock_guard lock{memory().mutex};
    memory().pinned[static_cast<const char*>(block)] = bytes;
    return block;
}

bool release_pinned(void* block)
{
    const std::lock_guard lock{memory().mutex};
    if (memory().pinned.erase(static_cast<const char*>(block)) == 0) return false;
    std::free(block);
    return true;
}

bool is_pinned(const void* block, std::size_t bytes)
{
    const std::lock_guard lock{memory().mutex};
    const auto* const begin = static_cast<const char*>(block);
    auto next = memory().pinned.upper_bound(begin);
    if (next == memory().pinned.begin()) return false;
    --next;
    return begin + bytes <= next->first + next->second;
}

}  // namespace cuda_stub
