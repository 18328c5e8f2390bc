// SPDX-License-Identifier: Apache-2.0
// Small matrices of coefficients, and sums of blocks that are weighted with them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ddl {

// Row-major.
struct Matrix {
    int rows = 0;
    int columns = 0;
    std::vector<double> values{};

    Matrix() = default;
    Matrix(int rows_, int columns_)
        : rows{rows_}, columns{columns_}, values(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_))
    {
    }

    double& operator()(int row, int column) { return values[index(row, column)]; }
    double operator()(int row, int column) const { return values[index(row, column)]; }
    std::span<const double> row(int row) const
    {
        return std::span{values}.subspan(index(row, 0), static_cast<std::size_t>(columns));
    }

 private:
    std::size_t index(int row, int column) const
    {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
    }
};

// sum = coefficients[0] * blocks[0] + coefficients[1] * blocks[1] + .. for blocks of equal size, added in this order
// and in double. A block whose coefficient is 0 is not read and may be null.
void weighted_sum(std::span<const double> coefficients, std::span<const float* const> blocks, std::span<float> sum);
void weighted_sum(std::span<const double> coefficients, std::span<const double* const> blocks, std::span<double> sum);

}  // namespace ddl
