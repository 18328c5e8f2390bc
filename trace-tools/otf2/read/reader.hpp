// SPDX-License-Identifier: Apache-2.0
// Reads any OTF2 archive (versions 1.1 to 3.x): definitions as plain structs, events one at a time through a visitor.
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
    // Report time stamps of each node's own clock, as recorded, instead of the archive's common time. Only for reading
    // by location: OTF2 orders the events of several locations by common time.
    bool undo_clock_offsets = false;
    // Memory that read() may use for open chunks.
    std::uint64_t most_open_bytes = 64 << 20;
};

// Memory does not grow with the number of events. OTF2 holds a chunk (of the archive's chunk size, 1 MiB by default)
// for each open location: one for each thread in read_by_location(), all of them in read(). If that exceeds
// most_open_bytes, read() stores all events, location by location, in the directory for temporary files (TMPDIR; about
// half the archive's size) and merges them from there.
class Reader {
 public:
    // Throws Error with a one-line message if there is no archive, or it is incomplete.
    explicit Reader(std::filesystem::path anchor, ReadOptions options = {});

    const std::filesystem::path& anchor() const { return anchor_; }

    // Sets options for later passes over the events. Returns the previous ones.
    ReadOptions set(const ReadOptions& options) { return std::exchange(options_, options); }
    const Archive& archive() const { return archive_; }

    // Visits all events in time order, with ties in the order of locations. May be called again. Throws Error if the
    // archive is truncated, or if clock offsets are to be undone. Events with undefined references are dropped and
    // counted in problems().
    void read(Visitor& visitor);

    // Visits all events of the first location, then those of the next, and so on; faster than read().
    void read_by_location(Visitor& visitor);

    // Like the above, with one thread for each visitor: the events of a location all go to the same visitor, in order.
    void read_by_location(std::span<Visitor* const> visitors);

    // Problems found in the last pass: undefined references, locations with missing or too few events.
    const std::vector<std::string>& problems() const { return problems_; }

    // Oddities found in the last pass, sound but worth reporting: events of kinds that this OTF2 does not know.
    const std::vector<std::string>& oddities() const { return oddities_; }

 private:
    friend class EventsAside;
    class Pass;
    struct Tally;
    enum class Order { time, location };

    // OTF2's reader, with the local definitions of some locations.
    using Prepared = std::unique_ptr<OTF2_Reader_struct, void (*)(OTF2_Reader_struct*)>;

    Prepared prepare() const;   // opens the archive, without local definitions
    std::size_t batch() const;  // number of locations
    void merge(Visitor& visitor);
    Tally pass(Visitor& visitor, Order order, std::size_t first, std::size_t last, Prepared prepared) const;
    void conclude(std::span<const Tally> tallies);

    std::filesystem::path anchor_;
    ReadOptions options_;
    std::shared_ptr<const struct ReferenceTable> references_;  // maps OTF2's ids to indices
    Archive archive_;
    std::uint64_t event_chunk_bytes_ = 0;
    std::vector<Prepared> prepared_;  // by batch, for the first pass by location; empty if they would be large
    std::vector<std::string> problems_;
    std::vector<std::string> oddities_;
};

}  // namespace otf2
