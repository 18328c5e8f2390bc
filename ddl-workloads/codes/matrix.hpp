// SPDX-License-Identifier: Apache-2.0
// Small matrices of coefficients, and sums of blocks that are weighted with them.
#pragma once

#include <Eigen/Dense>

#include <cstddef>
#include <span>

namespace ddl {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline std::span<const double> row_of(const Matrix& matrix, Eigen::Index row)
{
    return std::span{matrix.data(), static_cast<std::size_t>(matrix.size())}.subspan(
        static_cast<std::size_t>(row * matrix.cols()), static_cast<std::size_t>(matrix.cols()));
}

// sum = coefficients[0] * blocks[0] + coefficients[1] * blocks[1] + .. for blocks of equal size, added in this order
// and in double. A block whose coefficient is 0 is not read and may be null.
void weighted_sum(std::span<const double> coefficients, std::span<const float* const> blocks, std::span<float> sum);
void weighted_sum(std::span<const double> coefficients, std::span<const double* const> blocks, std::span<double> sum);

}  // namespace ddl
