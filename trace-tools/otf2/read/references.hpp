// SPDX-License-Identifier: Apache-2.0
// From OTF2's numbers to indices into Archive's tables.
#pragma once

#include "base/saturating.hpp"
#include "trace-tools/otf2/archive.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace otf2 {

// Numbers 0, 1, 2.. in order are looked up directly, all others (hostile ones too) in a hash table.
class IndexTable {
 public:
    // False if the number is there already: the first definition stays.
    bool add(std::uint64_t number, std::uint32_t index)
    {
        if (at(number) != nowhere) return false;
        if (number == direct_.size())
            direct_.push_back(index);
        else
            others_.emplace(number, index);
        return true;
    }

    // nowhere for a number without a definition.
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
    std::vector<std::string> texts;                         // by index of strings
    IndexTable metric_classes;                              // and instances, which are indices of their class
    std::vector<std::vector<std::uint32_t>> class_members;  // indices into Archive::metrics

    // A tick of the archive's clock in ns; 1 tick = 1 ns is exact, others are rounded to 1 ns.
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
    // Problems of an archive that Crosstalk wrote; other tools write such archives, and what events need of them is
    // looked for there.
    std::vector<std::string> forgiven_to_others;
};

}  // namespace otf2
