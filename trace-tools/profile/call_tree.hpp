// SPDX-License-Identifier: Apache-2.0
// Call paths: which region was entered inside which other. All locations share one tree.
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
        std::uint32_t depth = 0;         // number of enclosing regions
    };

    // Regions nested more deeply count for the call path of the deepest one. This bounds memory, and recursion
    // elsewhere.
    static constexpr std::uint32_t most_regions = 500;

    // The call path of a region entered inside `parent` (nowhere: inside no region). Creates the call path if it is
    // new.
    std::uint32_t child(std::uint32_t parent, std::uint32_t region);

    const std::vector<Node>& nodes() const { return nodes_; }

 private:
    // Cache of recent lookups.
    struct Found {
        std::uint32_t parent = nowhere;
        std::uint32_t region = 0;
        std::uint32_t child = nowhere;  // nowhere: entry unused
    };

    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and region
    std::array<Found, 256> found_;
};

}  // namespace otf2
