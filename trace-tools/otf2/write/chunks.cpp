// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/chunks.hpp"

#include "base/units.hpp"
#include "trace-tools/otf2/handles.hpp"

#include <cstring>
#include <new>

namespace otf2 {

// State of a buffer, kept by OTF2 for us.
struct EventMemory::Buffer {
    std::vector<char*> chunks;
    std::size_t in_use = 0;
    std::unique_ptr<char[]> own;  // buffers of definitions, and of events if memory is unbounded
};

EventMemory::EventMemory(std::uint64_t bytes) : chunks_{bytes / event_chunk_bytes}
{
    if (bytes == 0) return;
    if (chunks_ == 0)
        base::fail("memory of ", base::format(base::Bytes{static_cast<std::int64_t>(bytes)}),
                   " is too small: at least ", base::format(base::Bytes{event_chunk_bytes}), " a location");
    bytes_.reset(new (std::nothrow) char[chunks_ * event_chunk_bytes]);
    if (!bytes_)
        base::fail("this machine has no ", base::format(base::Bytes{static_cast<std::int64_t>(bytes)}),
                   " of memory for the trace's events");
    std::memset(bytes_.get(), 0, chunks_ * event_chunk_bytes);  // touched now: no page fault between two events
    free_.reserve(chunks_);
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk) free_.push_back(bytes_.get() + chunk * event_chunk_bytes);
}

bool EventMemory::has_room_for_a_location()
{
    const std::lock_guard lock{mutex_};
    return chunks_ == 0 || !free_.empty();
}

char* EventMemory::take(bool first)
{
    const std::lock_guard lock{mutex_};
    if (free_.size() <= (first ? 0 : chunks_ / 4)) return nullptr;
    char* chunk = free_.back();
    free_.pop_back();
    return chunk;
}

void EventMemory::give_back(char* chunk)
{
    const std::lock_guard lock{mutex_};
    free_.push_back(chunk);
}

// Returns null if no further chunk is free: OTF2 then flushes the buffer.
void* EventMemory::allocate(void* memory, OTF2_FileType type, OTF2_LocationRef, void** of_buffer, std::uint64_t bytes)
try {
    auto& all = *static_cast<EventMemory*>(memory);
    if (*of_buffer == nullptr) *of_buffer = new Buffer;
    auto& buffer = *static_cast<Buffer*>(*of_buffer);
    const bool first = buffer.chunks.empty();
    if (buffer.in_use == buffer.chunks.size()) {
        char* chunk = nullptr;
        buffer.chunks.reserve(buffer.chunks.size() + 1);
        if (type == OTF2_FILETYPE_EVENTS && all.chunks_ > 0)
            chunk = all.take(first);
        else if (first) {
            buffer.own.reset(new char[bytes]);
            chunk = buffer.own.get();
            if (type == OTF2_FILETYPE_EVENTS) std::memset(chunk, 0, bytes);
        }
        if (chunk == nullptr) return nullptr;
        buffer.chunks.push_back(chunk);
    }
    return buffer.chunks[buffer.in_use++];
} catch (const std::bad_alloc&) {
    return nullptr;
}

// Each location keeps its first chunk until it is closed.
void EventMemory::free_all(void* memory, OTF2_FileType, OTF2_LocationRef, void** of_buffer, bool final)
{
    auto& all = *static_cast<EventMemory*>(memory);
    auto* buffer = static_cast<Buffer*>(*of_buffer);
    if (buffer == nullptr) return;
    buffer->in_use = 0;
    const std::size_t kept = final || buffer->chunks.empty() ? 0 : 1;
    for (; buffer->chunks.size() > kept; buffer->chunks.pop_back())
        if (!buffer->own) all.give_back(buffer->chunks.back());
    if (!final) return;
    delete buffer;
    *of_buffer = nullptr;
}

void use_memory(OTF2_Archive* archive, EventMemory& memory)
{
    static const OTF2_MemoryCallbacks callbacks{.otf2_allocate = EventMemory::allocate,
                                                .otf2_free_all = EventMemory::free_all};
    check(OTF2_Archive_SetMemoryCallbacks(archive, &callbacks, &memory), "set the archive's memory");
}

}  // namespace otf2
