// SPDX-License-Identifier: Apache-2.0
// Which of the symbols that contradict each other are wrong.
#pragma once

#include "ddl-workloads/codes/symbol_basis.hpp"

#include <vector>

namespace ddl {

// The differences between the rows that SymbolBasis::others names and what the rows read predict, each divided by its
// scale, as the sums of their products.
struct Differences {
    Matrix products{};  // others x others
    double sum_of_squares() const;
};

// A set of symbols, and how much the others still differ without it: a sum of squares.
struct Suspects {
    double differences = 0.0;
    std::vector<int> symbols{};
};

// All sets of `count` of the symbols that are there, those that explain most first. Empty if there are too many sets.
std::vector<Suspects> suspects(const SymbolBasis& basis, const Differences& differences,
                               const std::vector<int>& symbols, int rows_per_symbol, int count);

}  // namespace ddl
