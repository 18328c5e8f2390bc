// SPDX-License-Identifier: Apache-2.0
// Call paths: which region was entered inside which. One tree for all locations.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace otf2 {

class CallTree {
 public:
    struct Node {
        std::uint32_t region = 0;        // index into Archive::regions
        std::uint32_t parent = nowhere;  // index into nodes(), smaller than its own; nowhere: a root
        std::uint32_t depth = 0;         // regions around it
    };

    // Regions nested more deeply belong to the call path of the last: this bounds memory, and recursion elsewhere.
    static constexpr std::uint32_t most_regions = 500;

    // The call path of a region entered inside `parent` (nowhere: inside of none); a new one if it is the first such.
    std::uint32_t child(std::uint32_t parent, std::uint32_t region);

    const std::vector<Node>& nodes() const { return nodes_; }

 private:
    // The last call paths that were asked for.
    struct Found {
        std::uint32_t parent = nowhere;
        std::uint32_t region = 0;
        std::uint32_t child = nowhere;  // nowhere: none yet
    };

    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and region
    std::array<Found, 256> found_;
};

}  // namespace otf2
