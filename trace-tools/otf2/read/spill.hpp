// SPDX-License-Identifier: Apache-2.0
// Events of many locations in the order of time, out of a file to which they were written location by location.
// OTF2's own reader does that only with a chunk in memory for each location; here it takes some KiB for each, and about
// half the archive's size on disk.
#pragma once

#include "base/descriptor.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/visitor.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace otf2 {

enum class StoredEvent : std::uint8_t;

// Takes all events of one location, then all of the next one.
class Spill final : public Visitor {
 public:
    enum class WhenFull { fails, gives_up };

    // In an unnamed file in the directory. Throws std::system_error if none can be made. Where the disk is full it
    // fails, or gives up: it is not whole then.
    Spill(const Archive& archive, const struct ReferenceTable& references, const std::filesystem::path& directory,
          WhenFull when_full = WhenFull::fails);
    Spill(const Spill&) = delete;
    Spill& operator=(const Spill&) = delete;

    bool is_whole();

    class Merge;  // of what several took

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override;
    void collective_begin(const At& at) override;
    void collective_end(const At& at, const CollectiveRecord& record) override;
    void collective_request(const At& at, std::uint64_t request) override;
    void collective_complete(const At& at, const CollectiveRecord& record) override;
    void send(const At& at, const MessageRecord& message) override;
    void send_complete(const At& at, std::uint64_t request) override;
    void receive_request(const At& at, std::uint64_t request) override;
    void receive(const At& at, const MessageRecord& message) override;
    void buffer_flush(const At& at, std::int64_t end_ns) override;
    void transfer_begin(const At& at) override;
    void transfer_end(const At& at) override;
    void other(const At& at) override;

 private:
    using Kind = StoredEvent;
    class Cursor;

    struct Section {  // of the file: one location's events
        std::uint32_t location = 0;
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    void begin(Kind kind, const At& at);
    void begin_section(std::uint32_t location);
    void put(std::uint64_t number);
    void put(const CollectiveRecord& record);
    void put(const MessageRecord& message);
    void put(const EventAttributes& attributes);
    void write_out();
    void write(std::string_view bytes);

    const Archive& archive_;
    const ReferenceTable& references_;
    WhenFull when_full_;
    bool gave_up_ = false;
    base::Descriptor file_;
    std::vector<char> unwritten_;
    char* end_ = nullptr;        // of what is unwritten
    std::uint64_t written_ = 0;  // bytes
    std::vector<Section> sections_;
    std::uint32_t location_ = nowhere;  // of the last section
    std::uint64_t last_tick_ = 0;       // in it
};

// Merges all that the spills took, each of other locations, by the archive's clock. Among events of one tick, which a
// coarse clock has many of, what must come first does: sends and begins before receipts and ends. What is left goes by
// the locations' numbers, as all ties do in OTF2's own reader. One thread may put events in order while another one
// visits those before them.
class Spill::Merge {
 public:
    struct Chunk;

    // The spills take no more events, and outlive it.
    explicit Merge(std::span<Spill* const> spills);
    ~Merge();

    // Replaces the chunk by the next events. False: there were no more.
    bool next(Chunk& chunk);
    void visit(const Chunk& chunk, Visitor& visitor) const;

 private:
    class NextEvents;
    class Arguments;

    std::vector<Cursor> cursors_;
    std::unique_ptr<NextEvents> next_;
    const Spill* any_ = nullptr;  // null: there are none
    AttributeListHandle list_;    // of the event that is visited
};

// Some events: see spill_format.hpp.
struct Spill::Merge::Chunk {
    static constexpr std::size_t full = 32 << 10;

    std::vector<char> bytes = std::vector<char>(full + 128);
    std::size_t used = 0;  // of them

    const char* begin() const { return bytes.data(); }
    const char* end() const { return bytes.data() + used; }
    // Space for the next `most` bytes, at most.
    char* room(std::size_t most)
    {
        if (bytes.size() - used < most) bytes.resize(used + most);
        return bytes.data() + used;
    }
    void end_at(const char* end) { used = static_cast<std::size_t>(end - begin()); }
};

}  // namespace otf2
