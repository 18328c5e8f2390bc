// SPDX-License-Identifier: Apache-2.0
// Finds which of several contradictory symbols are wrong.
#pragma once

#include "ddl-workloads/codes/symbol_basis.hpp"

#include <vector>

namespace ddl {

// Differences between the rows SymbolBasis::others and their predictions from SymbolBasis::rows, each divided by its
// scale. Kept as sums of products of each two rows' differences.
struct Differences {
    Matrix products{};  // others x others
    double sum_of_squares() const { return products.trace(); }
};

// A set of symbols, and the sum of squares of the differences that remain without these symbols.
struct Suspects {
    double differences = 0.0;
    std::vector<int> symbols{};
};

// All sets of `count` of these symbols, ordered by how much of the differences they explain, the most first. Empty if
// there are too many sets.
std::vector<Suspects> suspects(const SymbolBasis& basis, const Differences& differences,
                               const std::vector<int>& symbols, int rows_per_symbol, int count);

}  // namespace ddl
