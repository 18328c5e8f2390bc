// SPDX-License-Identifier: Apache-2.0
// Number of visits and time of each call path on each location.
#pragma once

#include "trace-tools/profile/call_tree.hpp"
#include "trace-tools/profile/profile.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace otf2 {

struct CallPathVisits {
    std::uint64_t visits = 0;
    Spread inclusive_ns;  // over the visits
};

// Locations may come in any order; each location's events must be in the order of the archive.
class CallPathProfile final : public EachEvent<CallPathProfile> {
 public:
    // Adds call paths to the tree as they occur.
    CallPathProfile(const Archive& archive, CallTree& tree);

    // Call after the last event: closes open regions.
    void finish();

    // Indexed by location and by node of the tree, up to the last node that the location visited.
    const std::vector<std::vector<CallPathVisits>>& by_location() const { return by_location_; }
    std::vector<std::string> problems() const;

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void event(const At& at) { places_[at.location].last_ns = at.time_ns; }

 private:
    struct Visit {
        std::uint32_t region = 0;
        std::uint32_t call_path = 0;
        bool folded = false;  // merged into the enclosing visit
        std::int64_t begin_ns = 0;
    };

    struct Place {
        std::vector<Visit> open;
        std::vector<std::uint32_t> times_open;  // by region: number of open visits
        std::int64_t last_ns = 0;
        std::uint64_t folded = 0;
    };

    void close(std::uint32_t location, std::int64_t end_ns);

    const Archive& archive_;
    CallTree& tree_;
    std::vector<Place> places_;  // by location
    std::vector<std::vector<CallPathVisits>> by_location_;
};

}  // namespace otf2
