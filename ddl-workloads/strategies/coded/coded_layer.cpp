// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/coded_layer.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

namespace {

using Index = Eigen::Index;

// Columns of a matrix that is cut into parts of `width` columns; the last part may have fewer.
struct Columns {
    Index first, count;
};
Columns columns_of(int part, Index width, Index all)
{
    const Index first = std::min(part * width, all);
    return {first, std::min(width, all - first)};
}

template <class Value>
void put_columns(const BlockOf<Value>& columns, int part, Eigen::Map<Block> matrix)
{
    const auto [first, count] = columns_of(part, columns.cols(), matrix.cols());
    matrix.middleCols(first, count) = columns.leftCols(count).template cast<float>();
}

// The sum of all parts of the matrix, weighted; columns beyond the matrix are 0.
template <class Value>
BlockOf<Value> weighted(const Whole& matrix, std::span<const double> coefficients, Index width)
{
    BlockOf<Value> sum = BlockOf<Value>::Zero(matrix.rows(), width);
    for (std::size_t part = 0; part < coefficients.size(); ++part) {
        if (coefficients[part] == 0.0) continue;
        const auto [first, count] = columns_of(static_cast<int>(part), width, matrix.cols());
        sum.leftCols(count) +=
            static_cast<Value>(coefficients[part]) * matrix.middleCols(first, count).template cast<Value>();
    }
    return sum;
}

}  // namespace

template <class Value>
CodedLayer<Value>::CodedLayer(const LayerCode& code, int rank, const DenseLayer& layer)
    : code_{code},
      place_{code.places.at(static_cast<std::size_t>(rank))},
      coefficients_{block_coefficients(code, rank)},
      outputs_{layer.outputs},
      inputs_{layer.inputs},
      has_momentum_{!layer.momentum.empty()},
      product_ns_{layer.product_ns / code.grid.blocks()}
{
    if (code.grid.rows > outputs_ || code.grid.columns > inputs_)
        base::fail_usage("a grid of ", code.grid.text(), " blocks is larger than the layer ", layer.name, " of ",
                         outputs_, "x", inputs_, " weights");
    weights_ = Block::Zero(share(outputs_, code.grid.rows), share(inputs_, code.grid.columns));
    gradient_ = weights_;
    if (has_momentum_) momentum_ = weights_;
}

template <class Value>
void CodedLayer<Value>::encode(std::span<const float> weights, std::span<const float> momentum)
{
    weights_ = encoded(weights);
    gradient_.setZero();
    if (!has_momentum_) return;
    if (momentum.empty())
        momentum_.setZero();
    else
        momentum_ = encoded(momentum);
}

template <class Value>
BlockOf<Value> CodedLayer<Value>::encoded(std::span<const float> whole) const
{
    return weighted_blocks<Value>({whole.data(), outputs_, inputs_}, code_.grid, coefficients_);
}

template <class Value>
BlockOf<Value> CodedLayer<Value>::forward(std::span<const float> x) const
{
    const Whole all{x.data(), samples(x), inputs_};
    const auto [first, count] = columns_of(place_.input.value(), weights_.cols(), inputs_);
    return all.middleCols(first, count).template cast<Value>() * weights_.leftCols(count).transpose();
}

template <class Value>
BlockOf<Value> CodedLayer<Value>::backward(std::span<const float> dy) const
{
    const Whole all{dy.data(), std::ssize(dy) / outputs_, outputs_};
    const auto [first, count] = columns_of(place_.output.value(), weights_.rows(), outputs_);
    return all.middleCols(first, count).template cast<Value>() * weights_.topRows(count);
}

template <class Value>
void CodedLayer<Value>::encode_gradient(std::span<const float> x, std::span<const float> dy)
{
    const Index rows = samples(x);
    coded_x_ = weighted<Value>({x.data(), rows, inputs_}, row_of(code_.columns, place_.column), weights_.cols());
    coded_dy_ = weighted<Value>({dy.data(), rows, outputs_}, row_of(code_.rows, place_.row), weights_.rows());
}

template <class Value>
void CodedLayer<Value>::add_gradient()
{
    gradient_.noalias() += coded_dy_.transpose() * coded_x_;
}

// As torch::optim::SGD.
template <class Value>
void CodedLayer<Value>::update(const OptimizerPlan& plan)
{
    gradient_ += static_cast<Value>(plan.weight_decay) * weights_;
    if (has_momentum_) {
        momentum_ = static_cast<Value>(plan.momentum) * momentum_ + gradient_;
        weights_ -= static_cast<Value>(plan.learning_rate) * momentum_;
    } else {
        weights_ -= static_cast<Value>(plan.learning_rate) * gradient_;
    }
    gradient_.setZero();
}

template <class Value>
void CodedLayer<Value>::put_output(int part, const Block& decoded, std::span<float> y) const
{
    put_columns(decoded, part, {y.data(), decoded.rows(), outputs_});
}

template <class Value>
void CodedLayer<Value>::put_input(int part, const Block& decoded, std::span<float> dx) const
{
    put_columns(decoded, part, {dx.data(), decoded.rows(), inputs_});
}

template <class Value>
void CodedLayer<Value>::put_block(int i, int j, std::span<const Value> block, std::span<float> whole) const
{
    const Block copy = Eigen::Map<const Block>{block.data(), weights_.rows(), weights_.cols()};
    ddl::put_block(i, j, copy, {whole.data(), outputs_, inputs_});
}

template class CodedLayer<float>;
template class CodedLayer<double>;

}  // namespace ddl
