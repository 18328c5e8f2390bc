// SPDX-License-Identifier: Apache-2.0
// Groups of symbols that have no part in common, so that each group is decoded separately: each part of a replicated
// product, for example.
#pragma once

#include "ddl-workloads/codes/matrix.hpp"

#include <vector>

namespace ddl {

struct SymbolGroup {
    std::vector<int> symbols{};
    std::vector<int> parts{};

    // Number of symbols beyond those needed to determine the parts: any parts.size() symbols do.
    int spare() const { return static_cast<int>(symbols.size()) - static_cast<int>(parts.size()); }
};

// In order of their first symbols.
std::vector<SymbolGroup> symbol_groups(const Matrix& generator, int rows_per_symbol);

// Calls `visit` with each set of `count` of the numbers 0 .. of-1, in order, until it returns false.
template <class Visit>
void for_each_set(int of, int count, const Visit& visit)
{
    std::vector<int> set;
    for (int i = 0; i < count; ++i) set.push_back(i);
    while (visit(set)) {
        int at = count - 1;
        while (at >= 0 && set[static_cast<std::size_t>(at)] == of - count + at) --at;
        if (at < 0) return;
        int next = set[static_cast<std::size_t>(at)] + 1;
        for (; at < count; ++at) set[static_cast<std::size_t>(at)] = next++;
    }
}

}  // namespace ddl
