// SPDX-License-Identifier: Apache-2.0
// Reads any OTF2 archive (1.1 to 3.x): definitions as plain structs, events through a visitor, one at a time.
//
//     otf2::Reader reader{"train/trace/traces.otf2"};
//     MyVisitor visitor{reader.archive()};
//     reader.read(visitor);
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/otf2/read/visitor.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct OTF2_Reader_struct;

namespace otf2 {

struct ReadOptions {
    // Time stamps of each node's own clock, as they were taken, instead of the archive's common time. By location only:
    // OTF2 orders events of several by common time.
    bool undo_clock_offsets = false;
    // Memory of chunks that read() may have open at once.
    std::uint64_t most_open_bytes = 64 << 20;
};

// Memory does not grow with the number of events. OTF2 holds a chunk (the archive's, 1 MiB by default) for each
// location that is open: one a thread in read_by_location(), all in read(). Where these are too many, read() puts all
// events aside in the directory for temporary files (TMPDIR), location by location, about half the archive's size, and
// merges them from there.
class Reader {
 public:
    // Throws Error, one clear line, if there is no archive, or not a whole one.
    explicit Reader(std::filesystem::path anchor, ReadOptions options = {});

    const std::filesystem::path& anchor() const { return anchor_; }

    // Options of the readings that follow. Returns the earlier ones.
    ReadOptions set(const ReadOptions& options) { return std::exchange(options_, options); }
    const Archive& archive() const { return archive_; }

    // All events in the order of their time; ties by location. May be called again. Throws Error where the archive is
    // cut off, or if clock offsets are to be undone. Events that refer to nothing are left out and counted in
    // problems().
    void read(Visitor& visitor);

    // All events of the first location, then all of the next one: faster.
    void read_by_location(Visitor& visitor);

    // The same by a thread for each visitor: each location's events go to one of them, in their order.
    void read_by_location(std::span<Visitor* const> visitors);

    // Found by the last reading: references to nothing, locations whose events are missing or fewer than defined.
    const std::vector<std::string>& problems() const { return problems_; }

    // Found by the last reading, sound but worth a word: events of kinds that this OTF2 does not know.
    const std::vector<std::string>& oddities() const { return oddities_; }

 private:
    friend class EventsAside;
    class Pass;
    struct Tally;
    enum class Order { time, location };

    // OTF2's, with the local definitions of some locations.
    using Prepared = std::unique_ptr<OTF2_Reader_struct, void (*)(OTF2_Reader_struct*)>;

    Prepared prepare() const;   // but for the definitions
    std::size_t batch() const;  // locations
    void merge(Visitor& visitor);
    Tally pass(Visitor& visitor, Order order, std::size_t first, std::size_t last, Prepared prepared) const;
    void conclude(std::span<const Tally> tallies);

    std::filesystem::path anchor_;
    ReadOptions options_;
    std::shared_ptr<const struct ReferenceTable> references_;  // OTF2's ids to indices
    Archive archive_;
    std::uint64_t event_chunk_bytes_ = 0;
    std::vector<Prepared> prepared_;  // by batch, for the first reading by location; none where they would be large
    std::vector<std::string> problems_;
    std::vector<std::string> oddities_;
};

}  // namespace otf2
