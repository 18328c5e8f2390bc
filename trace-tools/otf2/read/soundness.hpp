// SPDX-License-Identifier: Apache-2.0
// Is an archive sound? The one answer of trace-info --check and of every program that reads archives: what this calls a
// problem is not analysed.
//
// A program that streams events, location by location or in the order of time, lets a Soundness see all of them beside
// its own visitor, and asks before it hands out any result:
//
//     otf2::Reader reader{anchor};
//     otf2::Soundness soundness{reader.archive()};
//     MyVisitor mine{reader.archive()};
//     otf2::FanOut both{&soundness, &mine};
//     reader.read_by_location(both);
//     otf2::refuse_unsound(reader, soundness);  // throws Error, one line
//
// Several threads: one Soundness each, in a FanOut each; then first.add(other) for the others. What was computed from
// an unsound archive up to then is to be thrown away, so it must have no trace outside (files appear when they are
// whole). Times may be the archive's or each node's own (ReadOptions::undo_clock_offsets).
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace otf2 {

// A thread's counters share no cache line with those of another thread.
constexpr std::size_t cache_line_bytes = 64;

struct alignas(cache_line_bytes) LocationProfile {
    std::uint64_t events = 0;
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::uint64_t backwards = 0;        // events earlier than the one before
    std::uint64_t stray_leaves = 0;     // left, not entered
    std::uint64_t end_markers = 0;      // left, not entered, of a region that is entered nowhere, or whose visits all
                                        // are left after the region around them; not ours
    std::uint64_t lost_leaves = 0;      // never left, of a region that is left elsewhere: its LEAVE is missing
    std::uint64_t markers = 0;          // never left before a region around them was, of a region that is left nowhere
    std::uint64_t open_at_the_end = 0;  // never left, nothing speaks against it: the program ended inside
};

// In any order of locations, each location's events in the order of the archive.
class Soundness final : public Visitor {
 public:
    explicit Soundness(const Archive& archive);

    // Takes in what was found of the same archive's other locations.
    void add(const Soundness& other);

    // Indexed as Archive's locations. Open regions are taken as left at the last event.
    std::vector<LocationProfile> locations() const;
    std::vector<std::string> problems() const;
    std::vector<std::string> oddities() const;

    // For a visitor that counts regions itself: as the events of the same name. enter: is it inside itself? leave: so
    // many of the innermost regions are left by this; 0: it was not entered.
    void event(const At& at);
    bool entered(const At& at, std::uint32_t region);
    std::size_t left(const At& at, std::uint32_t region);

    void enter(const At& at, std::uint32_t region, const EventAttributes&) override { entered(at, region); }
    void leave(const At& at, std::uint32_t region, const EventAttributes&) override { left(at, region); }
    void metric(const At& at, std::uint32_t, const MetricValue& value) override
    {
        if (value.member == 0) event(at);
    }
    void collective_begin(const At& at) override { event(at); }
    void collective_end(const At& at, const CollectiveRecord&) override { event(at); }
    void collective_request(const At& at, std::uint64_t) override { event(at); }
    void collective_complete(const At& at, const CollectiveRecord&) override { event(at); }
    void send(const At& at, const MessageRecord&) override { event(at); }
    void send_complete(const At& at, std::uint64_t) override { event(at); }
    void receive_request(const At& at, std::uint64_t) override { event(at); }
    void receive(const At& at, const MessageRecord&) override { event(at); }
    void buffer_flush(const At& at, std::int64_t) override { event(at); }
    void other(const At& at) override { event(at); }

 private:
    struct alignas(cache_line_bytes) Stack {
        std::vector<std::uint32_t> open;
        std::unordered_map<std::uint32_t, std::uint32_t> deep;     // how often a region is open beyond the first levels
        std::vector<bool> left;                                    // by region: at least once
        std::unordered_set<std::uint32_t> left_inside_itself;      // of those that are open
        std::unordered_map<std::uint32_t, std::uint64_t> skipped;  // never left before a region around them was
        std::unordered_map<std::uint32_t, std::uint64_t> strays;   // left while they were not open
        bool holds(std::uint32_t region) const;
        bool is_left(std::uint32_t region) const { return region < left.size() && left[region]; }
        void pop();
    };

    enum class Reach { inside, a_little_beyond, beyond };
    Reach reach(std::size_t location) const;
    bool some_are_inside() const;
    bool others_are_inside(std::size_t location) const;

    const Archive& archive_;
    std::vector<LocationProfile> locations_;
    std::vector<Stack> stacks_;  // by location
};

// Faults of the archive, by its definitions, its last reading and its events.
std::vector<std::string> problems_of(const Reader& reader, const Soundness& soundness);
// Sound, but worth a word.
std::vector<std::string> oddities_of(const Reader& reader, const Soundness& soundness);

// After a reading of all events. Throws Error, one line with the first problem, where there is one.
void refuse_unsound(const Reader& reader, const Soundness& soundness);

// Reads all events, location by location, and refuses likewise.
void read_soundly(Reader& reader, Visitor& visitor);

// The same by a thread for each visitor, as Reader::read_by_location().
void read_soundly(Reader& reader, std::span<Visitor* const> visitors);

}  // namespace otf2
