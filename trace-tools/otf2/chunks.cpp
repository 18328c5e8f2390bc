#include "trace-tools/otf2/chunks.hpp"

#include "trace-tools/otf2/handles.hpp"

#include <cstring>
#include <memory>
#include <new>

namespace otf2 {

namespace {

struct Chunk {
    std::unique_ptr<char[]> bytes;
    bool in_use = false;
};

// Null for a second chunk: OTF2 then flushes the first one.
void* allocate(void*, OTF2_FileType type, OTF2_LocationRef, void** of_buffer, std::uint64_t bytes)
{
    if (*of_buffer == nullptr) {
        std::unique_ptr<Chunk> chunk{new (std::nothrow) Chunk};
        if (!chunk) return nullptr;
        chunk->bytes.reset(new (std::nothrow) char[bytes]);
        if (!chunk->bytes) return nullptr;
        if (type == OTF2_FILETYPE_EVENTS)
            std::memset(chunk->bytes.get(), 0, bytes);  // no page fault between two events
        *of_buffer = chunk.release();
    }
    auto* chunk = static_cast<Chunk*>(*of_buffer);
    if (chunk->in_use) return nullptr;
    chunk->in_use = true;
    return chunk->bytes.get();
}

void free_all(void*, OTF2_FileType, OTF2_LocationRef, void** of_buffer, bool final)
{
    auto* chunk = static_cast<Chunk*>(*of_buffer);
    if (chunk == nullptr) return;
    chunk->in_use = false;
    if (!final) return;
    delete chunk;
    *of_buffer = nullptr;
}

}  // namespace

void use_one_chunk_a_location(OTF2_Archive* archive)
{
    static const OTF2_MemoryCallbacks callbacks{.otf2_allocate = allocate, .otf2_free_all = free_all};
    check(OTF2_Archive_SetMemoryCallbacks(archive, &callbacks, nullptr), "give the archive its memory");
}

}  // namespace otf2
