// SPDX-License-Identifier: Apache-2.0
// Time by region or call path, in sums that are often reset.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace otf2 {

// Sums of time by place: an index into Archive::regions or, if call paths are tracked, into CallTree::nodes(); nowhere:
// in no region. Adding takes constant time.
class TimeSums {
 public:
    using Sum = std::pair<std::uint32_t, std::int64_t>;  // place, ns

    void add(std::uint32_t where, std::int64_t ns)
    {
        const std::size_t slot = slot_of(where);
        if (slot >= places_.size()) places_.resize(slot + 1);
        if (places_[slot] == 0) {
            sums_.emplace_back(where, 0);
            places_[slot] = static_cast<std::uint32_t>(sums_.size());
        }
        sums_[places_[slot] - 1].second += ns;
    }

    std::int64_t of(std::uint32_t where) const
    {
        const std::size_t slot = slot_of(where);
        return slot < places_.size() && places_[slot] != 0 ? sums_[places_[slot] - 1].second : 0;
    }

    void clear()
    {
        for (const auto& [where, ns] : sums_) places_[slot_of(where)] = 0;
        sums_.clear();
    }

    // In the order in which places were first added to.
    const std::vector<Sum>& all() const { return sums_; }

    // Table index of a place: 0 for nowhere, which is the largest number.
    static std::size_t slot_of(std::uint32_t where) { return where + 1U; }
    static std::uint32_t where_of(std::size_t slot) { return static_cast<std::uint32_t>(slot) - 1U; }

 private:
    std::vector<Sum> sums_;
    std::vector<std::uint32_t> places_;  // by slot: index into sums_, from 1; 0: no sum
};

}  // namespace otf2
