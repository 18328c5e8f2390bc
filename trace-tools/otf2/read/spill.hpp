// SPDX-License-Identifier: Apache-2.0
// Visits the events of many locations in time order, from a temporary file to which they were written location by
// location. OTF2's own reader needs a chunk of memory for each location; this needs a few KiB for each, and about half
// the archive's size on disk.
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

// Takes all events of one location, then those of the next, and so on.
class Spill final : public Visitor {
 public:
    enum class WhenFull { fails, gives_up };

    // Writes to an unnamed file in `directory`. Throws std::system_error if none can be created. If the disk is full,
    // it either throws or gives up (is_whole() is then false).
    Spill(const Archive& archive, const struct ReferenceTable& references, const std::filesystem::path& directory,
          WhenFull when_full = WhenFull::fails);
    Spill(const Spill&) = delete;
    Spill& operator=(const Spill&) = delete;

    bool is_whole();

    class Merge;  // merges several spills

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

    struct Section {  // one location's events in the file
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
    char* end_ = nullptr;        // end of the unwritten data
    std::uint64_t written_ = 0;  // bytes written
    std::vector<Section> sections_;
    std::uint32_t location_ = nowhere;  // location of the last section
    std::uint64_t last_tick_ = 0;       // tick of the last event in that section
};

// Merges the events of all spills, each of which holds different locations, in the order of the archive's clock. Among
// events with the same tick, of which a coarse clock has many, causes come first: sends and begins before receives and
// ends. Remaining ties are ordered by location number, as in OTF2's own reader. One thread may sort events while
// another visits those before them.
class Spill::Merge {
 public:
    struct Chunk;

    // The spills must be complete, and must outlive this object.
    explicit Merge(std::span<Spill* const> spills);
    ~Merge();

    // Replaces the chunk by the next events. Returns false at the end.
    bool next(Chunk& chunk);
    void visit(const Chunk& chunk, Visitor& visitor) const;

 private:
    class NextEvents;
    class Arguments;

    std::vector<Cursor> cursors_;
    std::unique_ptr<NextEvents> next_;
    const Spill* any_ = nullptr;  // null: there are no spills
    AttributeListHandle list_;    // attributes of the visited event
};

// A sequence of sorted events; see spill_format.hpp.
struct Spill::Merge::Chunk {
    static constexpr std::size_t full = 32 << 10;

    std::vector<char> bytes = std::vector<char>(full + 128);
    std::size_t used = 0;  // number of bytes in use

    const char* begin() const { return bytes.data(); }
    const char* end() const { return bytes.data() + used; }
    // Returns space for at most `most` further bytes.
    char* room(std::size_t most)
    {
        if (bytes.size() - used < most) bytes.resize(used + most);
        return bytes.data() + used;
    }
    void end_at(const char* end) { used = static_cast<std::size_t>(end - begin()); }
};

}  // namespace otf2
