// SPDX-License-Identifier: Apache-2.0
// Blocks of a matrix that is cut into a grid. Blocks at its edge are padded with zeros to equal size. All matrices are
// row-major.
#pragma once

#include "ddl-workloads/codes/layer_code.hpp"
#include "ddl-workloads/models/state_tensor.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace ddl {

using Block = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Whole = Eigen::Map<const Block>;

inline std::span<float> values_of(Block& block)
{
    return {block.data(), static_cast<std::size_t>(block.size())};
}

inline double largest_of(const Block& block)
{
    return block.size() == 0 ? 0.0 : static_cast<double>(block.cwiseAbs().maxCoeff());
}

// A rank's block as a part of its state.
inline StateTensor state_of(std::string path, Block& block)
{
    return {.path = std::move(path),
            .type = ElementType::float32,
            .shape = {block.rows(), block.cols()},
            .bytes = std::as_writable_bytes(values_of(block)),
            .owner = Owner::each};
}

// Rows, or columns, of a block.
inline Eigen::Index share(Eigen::Index whole, int parts)
{
    return (whole + parts - 1) / parts;
}

// The place of a block of this size in a matrix, without the padding.
struct BlockPlace {
    Eigen::Index row, column, rows, columns;
};
inline BlockPlace block_place(const Eigen::Index rows, const Eigen::Index columns, int i, int j, Eigen::Index all_rows,
                              Eigen::Index all_columns)
{
    const Eigen::Index row = std::min(i * rows, all_rows);
    const Eigen::Index column = std::min(j * columns, all_columns);
    return {row, column, std::min(rows, all_rows - row), std::min(columns, all_columns - column)};
}

// The sum of all blocks of the matrix, weighted with coefficients in row-major order, added in double.
inline Block weighted_blocks(const Whole& matrix, const Grid& grid, std::span<const double> coefficients)
{
    using Sum = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Sum sum = Sum::Zero(share(matrix.rows(), grid.rows), share(matrix.cols(), grid.columns));
    for (int i = 0; i < grid.rows; ++i)
        for (int j = 0; j < grid.columns; ++j) {
            const double coefficient = coefficients[static_cast<std::size_t>(i * grid.columns + j)];
            if (coefficient == 0.0) continue;
            const BlockPlace at = block_place(sum.rows(), sum.cols(), i, j, matrix.rows(), matrix.cols());
            sum.topLeftCorner(at.rows, at.columns) +=
                coefficient * matrix.block(at.row, at.column, at.rows, at.columns).cast<double>();
        }
    return sum.cast<float>();
}

// Writes block (i, j).
template <class SomeBlock>
void put_block(int i, int j, const SomeBlock& block, Eigen::Map<Block> matrix)
{
    const BlockPlace at = block_place(block.rows(), block.cols(), i, j, matrix.rows(), matrix.cols());
    matrix.block(at.row, at.column, at.rows, at.columns) = block.topLeftCorner(at.rows, at.columns);
}

}  // namespace ddl
