#include "trace-tools/patterns/call_tree.hpp"

namespace otf2 {

std::uint32_t CallTree::child(std::uint32_t parent, std::uint32_t region)
{
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const auto [place, is_new] = children_.try_emplace(std::uint64_t{parent} << 32U | region, next);
    if (is_new) nodes_.push_back({.region = region, .parent = parent});
    return place->second;
}

}  // namespace otf2
