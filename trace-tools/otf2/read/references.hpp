// SPDX-License-Identifier: Apache-2.0
// Maps OTF2's reference numbers to indices into Archive's tables.
#pragma once

#include "base/saturating.hpp"
#include "trace-tools/otf2/archive.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace otf2 {

// Consecutive numbers 0, 1, 2, ... are looked up directly, all others (malicious ones too) in a hash table.
class IndexTable {
 public:
    // Returns false if the number already exists; the first definition is kept.
    bool add(std::uint64_t number, std::uint32_t index)
    {
        if (at(number) != nowhere) return false;
        if (number == direct_.size())
            direct_.push_back(index);
        else
            others_.emplace(number, index);
        return true;
    }

    // Returns nowhere for an undefined number.
    std::uint32_t at(std::uint64_t number) const
    {
        if (number < direct_.size()) return direct_[number];
        if (others_.empty()) return nowhere;
        const auto found = others_.find(number);
        return found == others_.end() ? nowhere : found->second;
    }

 private:
    std::vector<std::uint32_t> direct_;
    std::unordered_map<std::uint64_t, std::uint32_t> others_;
};

struct ReferenceTable {
    IndexTable locations;
    IndexTable regions;
    IndexTable attributes;
    IndexTable communicators;
    IndexTable strings;
    std::vector<std::string> texts;                         // texts of the strings, by index
    IndexTable metric_classes;                              // also metric instances, with the index of their class
    std::vector<std::vector<std::uint32_t>> class_members;  // indices into Archive::metrics

    // Clock ticks are converted to ns: exactly if a tick is 1 ns, otherwise rounded to 1 ns.
    std::uint64_t ticks_per_s = 1'000'000'000;
    std::uint64_t first_tick = 0;
    std::int64_t first_ns = 0;

    std::int64_t duration_ns(std::int64_t ticks) const;
    std::int64_t time_ns(std::uint64_t tick) const
    {
        return ticks_per_s == 1'000'000'000
                   ? static_cast<std::int64_t>(tick)
                   : base::saturated_sum(first_ns, duration_ns(static_cast<std::int64_t>(tick - first_tick)));
    }
};

struct Definitions {
    Archive archive;
    ReferenceTable references;
    // Faults that are problems only in archives written by Crosstalk. Other tools write such archives; there,
    // references that events use are checked when events are read.
    std::vector<std::string> forgiven_to_others;
};

}  // namespace otf2
