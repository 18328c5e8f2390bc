// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/symbol_groups.hpp"

#include <algorithm>

namespace ddl {

namespace {

bool has_part(const Matrix& generator, int rows_per_symbol, int symbol, int part)
{
    for (int row = symbol * rows_per_symbol; row < (symbol + 1) * rows_per_symbol; ++row)
        if (generator(row, part) != 0.0) return true;
    return false;
}

}  // namespace

std::vector<SymbolGroup> symbol_groups(const Matrix& generator, int rows_per_symbol)
{
    const int symbols = static_cast<int>(generator.rows()) / rows_per_symbol;
    std::vector<SymbolGroup> groups;
    std::vector<bool> taken(static_cast<std::size_t>(symbols));
    for (int first = 0; first < symbols; ++first) {
        if (taken[static_cast<std::size_t>(first)]) continue;
        taken[static_cast<std::size_t>(first)] = true;
        SymbolGroup group{.symbols = {first}};
        for (std::size_t i = 0; i < group.symbols.size(); ++i)
            for (int part = 0; part < generator.cols(); ++part) {
                if (!has_part(generator, rows_per_symbol, group.symbols[i], part)) continue;
                if (std::ranges::find(group.parts, part) != group.parts.end()) continue;
                group.parts.push_back(part);
                for (int other = 0; other < symbols; ++other) {
                    if (taken[static_cast<std::size_t>(other)]) continue;
                    if (!has_part(generator, rows_per_symbol, other, part)) continue;
                    taken[static_cast<std::size_t>(other)] = true;
                    group.symbols.push_back(other);
                }
            }
        std::ranges::sort(group.symbols);
        std::ranges::sort(group.parts);
        groups.push_back(std::move(group));
    }
    return groups;
}

}  // namespace ddl
