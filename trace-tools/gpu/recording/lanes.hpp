// SPDX-License-Identifier: Apache-2.0
// Arranges a row of slices for OTF2, where regions of a location must be nested or disjoint.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpu {

struct Nested {
    std::size_t moved = 0;  // moved to a further location, as they partly overlap others of their row
    std::size_t cut = 0;    // cut at the end of the slice that they overlap, as no further location was left
};

// Partly overlapping slices go to further locations, made on demand.
class Lanes {
 public:
    // `suffix` is appended to the name of the location: " (overlap 1)" or the like; empty for the first location.
    using MakeLocation = std::function<otf2::LocationRecorder&(const std::string& suffix)>;
    explicit Lanes(MakeLocation make) : make_{std::move(make)} {}

    // Begins must not decrease. Of slices with the same begin, the longest must come first.
    void add(otf2::RegionRef region, std::int64_t begin_ns, std::int64_t end_ns,
             std::span<const otf2::AttributeValue> attributes);
    void finish();  // call after the last slice

    const Nested& nested() const { return nested_; }

 private:
    struct Open {
        otf2::RegionRef region;
        std::int64_t end_ns = 0;
    };
    struct Lane {
        otf2::LocationRecorder* location = nullptr;
        std::vector<Open> open;  // outermost first

        void leave_until(std::int64_t time_ns);
        std::int64_t room_until() const { return open.empty() ? INT64_MAX : open.back().end_ns; }
    };

    MakeLocation make_;
    std::vector<Lane> lanes_;
    Nested nested_;
};

}  // namespace gpu
