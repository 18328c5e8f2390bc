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

template <class Value>
using BlockOf = Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Block = BlockOf<float>;
using Whole = Eigen::Map<const Block>;

template <class Value>
std::span<Value> values_of(BlockOf<Value>& block)
{
    return {block.data(), static_cast<std::size_t>(block.size())};
}

// The largest magnitude.
template <class Value>
double largest_of(std::span<const Value> values)
{
    using Values = Eigen::Map<const Eigen::ArrayX<Value>>;
    return values.empty() ? 0.0 : static_cast<double>(Values{values.data(), std::ssize(values)}.abs().maxCoeff());
}
template <class Value>
double largest_of(const BlockOf<Value>& block)
{
    return largest_of(std::span<const Value>{block.data(), static_cast<std::size_t>(block.size())});
}

template <class Value>
inline constexpr ElementType element_type_of = sizeof(Value) == 8 ? ElementType::float64 : ElementType::float32;

// A rank's block as a part of its state.
template <class Value>
StateTensor state_of(std::string path, BlockOf<Value>& block)
{
    return {.path = std::move(path),
            .type = element_type_of<Value>,
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
template <class Value>
BlockOf<Value> weighted_blocks(const Whole& matrix, const Grid& grid, std::span<const double> coefficients)
{
    BlockOf<double> sum = BlockOf<double>::Zero(share(matrix.rows(), grid.rows), share(matrix.cols(), grid.columns));
    for (int i = 0; i < grid.rows; ++i)
        for (int j = 0; j < grid.columns; ++j) {
            const double coefficient = coefficients[static_cast<std::size_t>(i * grid.columns + j)];
            if (coefficient == 0.0) continue;
            const BlockPlace at = block_place(sum.rows(), sum.cols(), i, j, matrix.rows(), matrix.cols());
            sum.topLeftCorner(at.rows, at.columns) +=
                coefficient * matrix.block(at.row, at.column, at.rows, at.columns).cast<double>();
        }
    return sum.cast<Value>();
}

// Writes block (i, j).
template <class Value>
void put_block(int i, int j, const BlockOf<Value>& block, Eigen::Map<Block> matrix)
{
    const BlockPlace at = block_place(block.rows(), block.cols(), i, j, matrix.rows(), matrix.cols());
    matrix.block(at.row, at.column, at.rows, at.columns) =
        block.topLeftCorner(at.rows, at.columns).template cast<float>();
}

}  // namespace ddl
