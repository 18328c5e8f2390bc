// SPDX-License-Identifier: Apache-2.0
// Computes parts from the symbols that have arrived: some symbols are read, which determine the parts and predict the
// other symbols.
#pragma once

#include "ddl-workloads/codes/symbol_groups.hpp"

#include <vector>

namespace ddl {

struct SymbolBasis {
    bool complete = false;         // false: the symbols do not determine the parts
    std::vector<int> rows{};       // rows of the generator that are read, as many as the group has parts
    Matrix parts{};                // parts x rows: each part as a sum of these rows
    std::vector<int> others{};     // rows of the generator that have arrived but are not read
    Matrix predicted{};            // others x rows: each other row as a sum of the rows read
    std::vector<double> scales{};  // by others: 1 + sum of the magnitudes of the row's coefficients
};

// there: [index in members.symbols], whether the symbol has arrived. A symbol that equals a part is read directly.
SymbolBasis symbol_basis(const Matrix& generator, int rows_per_symbol, const SymbolGroup& members,
                         const std::vector<bool>& there);

}  // namespace ddl
