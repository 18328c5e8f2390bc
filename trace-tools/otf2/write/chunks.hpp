// SPDX-License-Identifier: Apache-2.0
// The memory that events wait in before they go to the file: chunks of equal size, touched before the first event and
// used again after each flush. OTF2's own default keeps 128 chunks a location and then stops the program for as long as
// it takes to write them all (0.2 s for 128 MiB).
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace otf2 {

constexpr std::uint64_t event_chunk_bytes = 256 << 10;  // the least OTF2 allows: flushed in some 0.1 ms

// Every location holds one chunk. With a bound all chunks there may be are made and touched at once, and a location
// takes more of them while more than a quarter is free: the rest is for the first chunks of locations to come.
class EventMemory {
 public:
    // 0: no bound, a chunk for each location. Throws Error for a bound that holds not even one.
    explicit EventMemory(std::uint64_t bytes);

    bool has_room_for_a_location();

 private:
    friend void use_memory(OTF2_Archive* archive, EventMemory& memory);
    struct Buffer;

    static void* allocate(void* memory, OTF2_FileType type, OTF2_LocationRef, void** of_buffer, std::uint64_t bytes);
    static void free_all(void* memory, OTF2_FileType type, OTF2_LocationRef, void** of_buffer, bool final);

    char* take(bool first);
    void give_back(char* chunk);

    std::size_t chunks_ = 0;  // 0: no bound
    std::unique_ptr<char[]> bytes_;
    std::mutex mutex_;
    std::vector<char*> free_;  // guarded by mutex_
};

// The memory must live until the archive is closed.
void use_memory(OTF2_Archive* archive, EventMemory& memory);

}  // namespace otf2
