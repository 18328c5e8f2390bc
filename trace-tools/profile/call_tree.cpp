// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/profile/call_tree.hpp"

namespace otf2 {

std::uint32_t CallTree::child(std::uint32_t parent, std::uint32_t region)
{
    Found& found = found_[(parent * 31U + region) % found_.size()];
    if (found.child != nowhere && found.parent == parent && found.region == region) return found.child;
    const std::uint32_t depth = parent == nowhere ? 0 : nodes_[parent].depth + 1;
    if (depth == most_regions) return parent;
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const auto [place, is_new] = children_.try_emplace(std::uint64_t{parent} << 32U | region, next);
    if (is_new) nodes_.push_back({.region = region, .parent = parent, .depth = depth});
    found = {.parent = parent, .region = region, .child = place->second};
    return found.child;
}

}  // namespace otf2
