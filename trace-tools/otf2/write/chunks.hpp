// SPDX-License-Identifier: Apache-2.0
// Memory that buffers events before they are written to the file: chunks of equal size, touched before the first event
// and reused after each flush. OTF2's default instead buffers 128 chunks for a location, then stops the program while
// it writes all of them (0.2 s for 128 MiB).
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace otf2 {

constexpr std::uint64_t event_chunk_bytes = 256 << 10;  // OTF2's minimum; a flush takes about 0.1 ms

// Each location has at least one chunk. If the memory is bounded, all chunks are allocated and touched immediately; a
// location takes further chunks while more than a quarter is free, and the rest is reserved for the first chunks of new
// locations.
class EventMemory {
 public:
    // 0: unbounded, one chunk for each location. Throws Error for a bound below one chunk.
    explicit EventMemory(std::uint64_t bytes);

    bool has_room_for_a_location();

 private:
    friend void use_memory(OTF2_Archive* archive, EventMemory& memory);
    struct Buffer;

    static void* allocate(void* memory, OTF2_FileType type, OTF2_LocationRef, void** of_buffer, std::uint64_t bytes);
    static void free_all(void* memory, OTF2_FileType type, OTF2_LocationRef, void** of_buffer, bool final);

    char* take(bool first);
    void give_back(char* chunk);

    std::size_t chunks_ = 0;  // 0: unbounded
    std::unique_ptr<char[]> bytes_;
    std::mutex mutex_;
    std::vector<char*> free_;  // guarded by mutex_
};

// `memory` must live until the archive is closed.
void use_memory(OTF2_Archive* archive, EventMemory& memory);

}  // namespace otf2
