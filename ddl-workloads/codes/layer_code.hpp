// SPDX-License-Identifier: Apache-2.0
// Codes of a layer y = W x whose weights W stay encoded on the ranks, as in CodeNet (Dutta et al. 2019). W is cut into
// a grid of m x n blocks W_ij, padded to equal size. The rank at (r, c) holds the block
// W(r, c) = sum over i, j of rows(r, i) columns(c, j) W_ij.
//
// Forward:  sum over j of W(r, j) x_j is symbol r: an encoding of y_0 .. y_(m-1) by `rows`.
// Backward: sum over i of W(i, c)^T dy_i is symbol c: an encoding of dx_0 .. dx_(n-1) by `columns`.
// Update:   W(r, c) += step * (sum over i of rows(r, i) dy_i) (sum over j of columns(c, j) x_j)^T keeps the code. So
// does
//           whatever is linear, such as momentum and weight decay.
#pragma once

#include "ddl-workloads/codes/matrix.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddl {

// A number of rows and columns of blocks: "5x4".
struct Grid {
    int rows = 1;
    int columns = 1;
    bool operator==(const Grid&) const = default;
    int blocks() const { return rows * columns; }
    std::string text() const;
};

inline constexpr int most_grid_side = 100;

// Throws UsageError unless both numbers are from `least` to most_grid_side.
Grid parse_grid(std::string_view text, int least = 1);

// The block that a rank holds, and its products.
struct Place {
    int row = 0;                  // of LayerCode::rows
    int column = 0;               // of LayerCode::columns
    std::optional<int> input{};   // the rank's product with x_input is a term of forward symbol `row`; none: no product
    std::optional<int> output{};  // the rank's product with dy_output is a term of backward symbol `column`
};

struct LayerCode {
    Grid grid;
    Matrix rows;                  // forward symbols x grid.rows
    Matrix columns;               // backward symbols x grid.columns
    std::vector<Place> places{};  // by rank

    int ranks() const { return static_cast<int>(places.size()); }
};

// The ranks whose products add up to a symbol, by the part of x or dy that they multiply.
std::vector<int> forward_ranks(const LayerCode& code, int symbol);
std::vector<int> backward_ranks(const LayerCode& code, int symbol);

// The coefficients with which the blocks W_ij (row-major) add up to the rank's block.
std::vector<double> block_coefficients(const LayerCode& code, int rank);

// A rank's block as a sum of blocks of other ranks.
struct Term {
    int rank = 0;
    double coefficient = 0.0;
};

// The block of `rank` as a sum of blocks of other ranks, which are marked in `healthy` and lie in one row or one column
// of the code, whichever takes fewer. Empty if these do not determine the block.
std::vector<Term> regeneration(const LayerCode& code, int rank, const std::vector<bool>& healthy);

}  // namespace ddl
