// SPDX-License-Identifier: Apache-2.0
// Decodes symbols of which some may be wrong and some missing: finds the largest consistent set, one that encodes some
// parts. Symbol p is the sum over k of generator(p, k) times part k; parts and symbols are blocks
// of equal size.
//
// P symbols for Q parts, any Q of which determine the parts: this corrects up to P - Q missing ones, up to P - Q - 1
// with random errors, and up to (P - Q) / 2 with any errors.
#pragma once

#include "ddl-workloads/codes/matrix.hpp"
#include "ddl-workloads/codes/symbol_basis.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace ddl {

struct Decoded {
    bool possible = false;     // false: too few symbols, or no consistent set of enough symbols, or more than one
    std::vector<int> wrong{};  // symbols outside of the consistent set, in order; if not possible: those not finite
    int used = 0;              // symbols of the consistent set
    double residual = 0.0;     // its disagreement; if not possible: that of all symbols
    double size = 0.0;         // largest magnitude of symbols that are finite
};

// The disagreement of a set of symbols is relative: for each symbol beyond those needed, the largest difference between
// it and what the others predict, divided by the largest value of the set (or least_size if that is larger) and by 1 +
// the sum of the magnitudes of the prediction's coefficients. So rounding has the same size whichever symbols are
// missing. Infinities and NaN are wrong.
//
// Not for several threads at once.
class SymbolDecoder {
 public:
    // rows_per_symbol rows of the generator are one symbol, wrong or missing as a whole.
    explicit SymbolDecoder(Matrix generator, int rows_per_symbol = 1);

    int symbols() const { return static_cast<int>(generator_.rows()) / rows_per_symbol_; }
    int parts() const { return static_cast<int>(generator_.cols()); }
    int rows_per_symbol() const { return rows_per_symbol_; }

    // True if the symbols that arrived determine all parts, also if any `spare` of them are left out.
    bool enough(const std::vector<bool>& arrived, int spare = 0) const;

    // rows: a block of `length` values for each row of the generator, null if the symbol has not arrived. Compares the
    // symbols, and writes the parts if that is possible; a null part is not written, and without parts the symbols are
    // only compared. Every process with the same symbols gets the same bits.
    Decoded decode(std::span<const float* const> rows, std::size_t length, double threshold,
                   std::span<float* const> parts, double least_size = 0.0);
    Decoded decode(std::span<const double* const> rows, std::size_t length, double threshold,
                   std::span<double* const> parts, double least_size = 0.0);

    // The smallest error in a value of one symbol that decode() finds if all symbols have arrived, relative to the
    // largest value. Infinite if there is a symbol that nothing checks.
    double smallest_detectable(double threshold) const;

 private:
    struct Group {
        SymbolGroup members;
        std::map<std::vector<bool>, SymbolBasis> bases{};  // by the members that are there
    };
    struct Answer;
    struct Limits {
        double threshold;
        double least_size;
    };

    const SymbolBasis& basis(Group& group, const std::vector<bool>& there);
    template <class Value>
    Answer solve(Group& group, std::span<const Value* const> rows, std::size_t length, Limits limits);
    template <class Value>
    Decoded decode_all(std::span<const Value* const> rows, std::size_t length, Limits limits,
                       std::span<Value* const> parts);

    Matrix generator_;
    int rows_per_symbol_ = 1;
    std::vector<Group> groups_{};
};

}  // namespace ddl
