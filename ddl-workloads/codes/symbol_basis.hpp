// SPDX-License-Identifier: Apache-2.0
// How the symbols that are there give the parts, and what those that are read predict of the others.
#pragma once

#include "ddl-workloads/codes/symbol_groups.hpp"

#include <vector>

namespace ddl {

struct SymbolBasis {
    bool complete = false;         // false: the symbols do not determine the parts
    std::vector<int> rows{};       // of the generator: those read, as many as the group has parts
    Matrix parts{};                // parts x rows: each part as a sum of these rows
    std::vector<int> others{};     // of the generator: rows that are there and not read
    Matrix predicted{};            // others x rows: each of them as a sum of the rows read
    std::vector<double> scales{};  // by others: 1 + sum of the magnitudes of its coefficients
};

// there: by members.symbols. Symbols that are a part are read as they are.
SymbolBasis symbol_basis(const Matrix& generator, int rows_per_symbol, const SymbolGroup& members,
                         const std::vector<bool>& there);

}  // namespace ddl
