// SPDX-License-Identifier: Apache-2.0
// Checks whether an archive is sound, for trace-info --check and for every program that reads archives. Archives with
// problems are not analysed.
//
// A program that streams events, location by location or in time order, passes all of them to a Soundness next to its
// own visitor, and checks it before any result is output:
//
//     otf2::Reader reader{anchor};
//     otf2::Soundness soundness{reader.archive()};
//     MyVisitor mine{reader.archive()};
//     otf2::FanOut both{&soundness, &mine};
//     reader.read_by_location(both);
//     otf2::refuse_unsound(reader, soundness);  // throws Error, one line
//
// With several threads, each has its own Soundness and FanOut; afterwards first.add(other) merges them. Results
// computed from an unsound archive must be discarded, so they must not become visible before (files appear when
// complete). Times may be the archive's or each node's own (ReadOptions::undo_clock_offsets).
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace otf2 {

// Alignment that keeps counters of different threads in different cache lines.
constexpr std::size_t cache_line_bytes = 64;

struct alignas(cache_line_bytes) LocationProfile {
    std::uint64_t events = 0;
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::uint64_t backwards = 0;        // events earlier than the previous one
    std::uint64_t stray_leaves = 0;     // left without being entered
    std::uint64_t end_markers = 0;      // the same, if the region is never entered, or always left after the enclosing
                                        // region; not used for Crosstalk's archives
    std::uint64_t lost_leaves = 0;      // never left, but the region is left elsewhere: a LEAVE is missing
    std::uint64_t markers = 0;          // never left within the enclosing region, and the region is never left anywhere
    std::uint64_t open_at_the_end = 0;  // never left, without any contradiction: the program ended inside
};

// Locations may come in any order; each location's events must be in the order of the archive.
class Soundness final : public EachEvent<Soundness> {
 public:
    explicit Soundness(const Archive& archive);

    // Adds the findings for other locations of the same archive.
    void add(const Soundness& other);

    // Indexed as in Archive. Open regions count as left at the last event.
    std::vector<LocationProfile> locations() const;
    std::vector<std::string> problems() const;
    std::vector<std::string> oddities() const;

    // For a visitor that counts regions itself; call these for the corresponding events. entered() returns true inside
    // a visit of the same region. left() returns how many of the innermost regions this event leaves; 0: the region was
    // not open.
    void event(const At& at);
    bool entered(const At& at, std::uint32_t region);
    std::size_t left(const At& at, std::uint32_t region);

    void enter(const At& at, std::uint32_t region, const EventAttributes&) override { entered(at, region); }
    void leave(const At& at, std::uint32_t region, const EventAttributes&) override { left(at, region); }
    void metric(const At& at, std::uint32_t, const MetricValue& value) override
    {
        if (value.member == 0) event(at);
    }

 private:
    struct alignas(cache_line_bytes) Stack {
        std::vector<std::uint32_t> open;
        std::unordered_map<std::uint32_t, std::uint32_t> deep;     // by region: open visits below the searched levels
        std::vector<bool> left;                                    // by region: left at least once
        std::unordered_set<std::uint32_t> left_inside_itself;      // open regions of which an inner visit was left
        std::unordered_map<std::uint32_t, std::uint64_t> skipped;  // never left within the enclosing region
        std::unordered_map<std::uint32_t, std::uint64_t> strays;   // left while not open
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

// Problems of the archive, from its definitions, the reader's last pass and its events.
std::vector<std::string> problems_of(const Reader& reader, const Soundness& soundness);
// Facts that do not make the archive unsound, but are worth reporting.
std::vector<std::string> oddities_of(const Reader& reader, const Soundness& soundness);

// Call after all events were read. Throws Error with the first problem in one line, if there is any.
void refuse_unsound(const Reader& reader, const Soundness& soundness);

// Reads all events, location by location, then calls refuse_unsound().
void read_soundly(Reader& reader, Visitor& visitor);

// The same with one thread for each visitor, as in Reader::read_by_location().
void read_soundly(Reader& reader, std::span<Visitor* const> visitors);

}  // namespace otf2
