// SPDX-License-Identifier: Apache-2.0
// Recycles the memory of the many short-lived objects of a replay, by size: faster than malloc.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace replay {

// Recycling is off with AddressSanitizer, so that it checks each block.
#ifdef __SANITIZE_ADDRESS__
constexpr bool recycles = false;
#else
constexpr bool recycles = true;
#endif

// A thread's free blocks, by size.
class FreeBlocks {
 public:
    static constexpr std::size_t step = 16;  // bytes
    static constexpr std::size_t most = 1024;

    FreeBlocks() = default;
    ~FreeBlocks()
    {
        for (List& list : lists_)
            while (list.first != nullptr) ::operator delete(taken(list));
    }
    FreeBlocks(const FreeBlocks&) = delete;
    FreeBlocks& operator=(const FreeBlocks&) = delete;

    void* take(std::size_t bytes)
    {
        List& list = lists_[(bytes + step - 1) / step];
        return list.first != nullptr ? taken(list) : ::operator new((bytes + step - 1) / step * step);
    }
    void give_back(void* block, std::size_t bytes)
    {
        List& list = lists_[(bytes + step - 1) / step];
        if (!recycles || list.blocks == most_blocks) return ::operator delete(block);
        list.first = ::new (block) Block{list.first};
        ++list.blocks;
    }

    static FreeBlocks& of_this_thread()
    {
        static thread_local FreeBlocks blocks;
        return blocks;
    }

 private:
    static constexpr std::size_t most_blocks = 1024;  // free blocks that are kept of each size
    struct Block {
        Block* next;
    };
    struct List {
        Block* first = nullptr;
        std::size_t blocks = 0;
    };

    static void* taken(List& list)
    {
        Block* const block = list.first;
        list.first = block->next;
        --list.blocks;
        return block;
    }

    std::array<List, most / step + 1> lists_;
};

// An allocator for containers and shared objects. A block may be returned on a different thread than the one that took
// it.
template <class T>
struct Recycled {
    using value_type = T;

    Recycled() = default;
    template <class Other>
    Recycled(const Recycled<Other>&) noexcept  // NOLINT(google-explicit-constructor): as allocators convert
    {
    }

    T* allocate(std::size_t count)
    {
        const std::size_t bytes = count * sizeof(T);
        return static_cast<T*>(bytes <= FreeBlocks::most ? FreeBlocks::of_this_thread().take(bytes)
                                                         : ::operator new(bytes));
    }
    void deallocate(T* block, std::size_t count) noexcept
    {
        const std::size_t bytes = count * sizeof(T);
        if (bytes <= FreeBlocks::most)
            FreeBlocks::of_this_thread().give_back(block, bytes);
        else
            ::operator delete(block);
    }

    template <class Other>
    bool operator==(const Recycled<Other>&) const
    {
        return true;
    }
};

}  // namespace replay
