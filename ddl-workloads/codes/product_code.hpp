// SPDX-License-Identifier: Apache-2.0
// Codes of a single product C = A B, for polynomial codes (Dutta et al. 2018): Generalized PolyDot. A is cut into t x s
// blocks and B into s x u, padded to equal size. Rank p evaluates A(x) = sum A_ij x^(j + is) and
// B(x) = sum B_jk x^(s-1-j + kst) at its own point x and multiplies both: its symbol is a value of a polynomial with
// s t u + s - 1 coefficients, of which that of x^(s-1 + is + kst) is C_ik. t = 1 is MatDot, s = 1 the Polynomial code.
//
// A complex point makes A(x), B(x) and the product complex. Real and imaginary parts are rows of their own:
// (Re A + i Im A)(Re B + i Im B) is four real products.
#pragma once

#include "ddl-workloads/codes/matrix.hpp"

#include <string>
#include <vector>

namespace ddl {

enum class Points { chebyshev, roots };  // roots: complex roots of unity

struct ProductCode {
    int t = 1;  // rows of blocks of A and C
    int s = 1;  // columns of blocks of A, rows of blocks of B
    int u = 1;  // columns of blocks of B and C
    Points points = Points::chebyshev;
    int rows_per_symbol = 1;     // 2: real and imaginary part, in this order
    Matrix left;                 // (ranks * rows_per_symbol) x (t * s): how blocks A_ij, row-major, add up
    Matrix right;                // (ranks * rows_per_symbol) x (s * u): how blocks B_jk, row-major, add up
    Matrix symbols;              // generator of the symbols: (ranks * rows_per_symbol) x threshold
    std::vector<int> outputs{};  // by C_ik, row-major: the part of the decoded symbols that it is

    int ranks() const { return static_cast<int>(symbols.rows()) / rows_per_symbol; }
    int threshold() const { return static_cast<int>(symbols.cols()); }
};

// Symbols from which a product of t x s by s x u blocks is decoded: s t u + s - 1.
int polydot_threshold(int t, int s, int u);

// The same for W (m x n blocks) times a vector, and for the transpose of the same stored W: 2 m n - n.
int polydot_forward_threshold(int m, int n);
int polydot_backward_threshold(int m, int n);

// ranks >= polydot_threshold(t, s, u).
ProductCode polydot(int t, int s, int u, int ranks, Points points);

// The generator of values of a polynomial: x^0 .. x^(coefficients-1) at the point of each rank. Complex ones take two
// rows.
Matrix evaluations(int coefficients, int ranks, Points points);

// Throws UsageError if the code's condition number is too large for float.
void check_single_precision(const ProductCode& code);

}  // namespace ddl
