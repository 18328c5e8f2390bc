// SPDX-License-Identifier: Apache-2.0
// How often, where and for how long locations visited regions; the basis for detecting steps.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace otf2 {

// How often a location visited a region, and for how long.
struct RegionUse {
    std::uint64_t visits = 0;
    std::uint64_t open = 0;
    std::int64_t first_ns = 0;  // when the first visit began
    std::int64_t begin_ns = 0;  // .. and the last
    std::int64_t covered_ns = 0;
    std::size_t depth = 0;
    std::uint32_t around = nowhere;  // the enclosing region
    bool same_place = true;          // depth and enclosing region, at every visit
    std::int64_t numbered_ns = 0;    // in visits with an attribute `step`; of nested ones the outermost
    struct Lengths {
        std::uint64_t visits = 0;
        std::int64_t ns = 0;
    };
    std::vector<std::pair<int, Lengths>> lengths;  // by power of two, in any order

    Lengths& of_length(std::int64_t ns);
    // True if two adjacent powers of two hold half of the visits and half of their time.
    bool alike() const;
};

// Expects all events of one location, then those of the next: switching between locations is slow.
class UseOfRegions final : public Visitor {
 public:
    explicit UseOfRegions(const Archive& archive);

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes&) override;
    void metric(const At& at, std::uint32_t, const MetricValue&) override { seen(at); }
    void other(const At& at) override { seen(at); }

    // Takes over all locations that `other` has seen.
    void add(UseOfRegions& other);
    // Call after the last event.
    void finish();

    bool saw_anything(std::size_t location) const { return places_[location].last_ns >= places_[location].first_ns; }
    std::int64_t length_ns(std::size_t location) const
    {
        return places_[location].last_ns - places_[location].first_ns;
    }
    using Uses = std::vector<std::pair<std::uint32_t, RegionUse>>;  // each region once; sorted by region after finish()
    const Uses& uses(std::size_t location) const { return places_[location].uses; }
    const RegionUse* find(std::size_t location, std::uint32_t region) const;  // call after finish(); null: not visited

 private:
    struct Open {
        std::uint32_t region;
        bool numbered;
    };
    struct Place {
        std::vector<Open> open;
        std::size_t numbered = 0;  // open regions, from the one with an attribute `step` inwards
        Uses uses;
        std::int64_t first_ns = INT64_MAX;
        std::int64_t last_ns = INT64_MIN;
    };

    static void end_visit(RegionUse& use, const Open& visit, std::int64_t time_ns);
    Place& seen(const At& at);
    RegionUse& use_of(Place& place, std::uint32_t region);

    std::optional<std::uint32_t> number_;
    std::vector<Place> places_;  // by location
    std::uint32_t location_ = nowhere;
    std::vector<std::uint32_t> use_places_;  // by region: 1 + index into the location's uses; 0: none
};

}  // namespace otf2
