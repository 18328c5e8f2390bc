// SPDX-License-Identifier: Apache-2.0
// A row of slices as OTF2 wants it, whose regions lie in each other or apart.
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
    std::size_t moved = 0;  // to a further location, since they overlap others of their row without lying in them
    std::size_t cut = 0;    // at the end of what they overlap, since all further locations were taken
};

// Slices that overlap go to further locations, which are made as they are needed.
class Lanes {
 public:
    // `suffix`: what the name of the location ends in, " (overlap 1)"; empty of the first.
    using MakeLocation = std::function<otf2::LocationRecorder&(const std::string& suffix)>;
    explicit Lanes(MakeLocation make) : make_{std::move(make)} {}

    // Begins must not decrease. Of those that begin together the longest comes first.
    void add(otf2::RegionRef region, std::int64_t begin_ns, std::int64_t end_ns,
             std::span<const otf2::AttributeValue> attributes);
    void finish();  // after the last one

    const Nested& nested() const { return nested_; }

 private:
    struct Open {
        otf2::RegionRef region;
        std::int64_t end_ns = 0;
    };
    struct Lane {
        otf2::LocationRecorder* location = nullptr;
        std::vector<Open> open;  // the outermost first

        void leave_until(std::int64_t time_ns);
        std::int64_t room_until() const { return open.empty() ? INT64_MAX : open.back().end_ns; }
    };

    MakeLocation make_;
    std::vector<Lane> lanes_;
    Nested nested_;
};

}  // namespace gpu
