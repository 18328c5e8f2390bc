// SPDX-License-Identifier: Apache-2.0
// One rank's block of a layer's weights under a code, and its share of the layer's products.
#pragma once

#include "ddl-workloads/codes/layer_code.hpp"
#include "ddl-workloads/models/dense_model.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/strategies/coded/blocks.hpp"

#include <span>

namespace ddl {

// Value: float or double, of the block and its products.
template <class Value>
class CodedLayer {
 public:
    using Block = BlockOf<Value>;

    // The code must outlive the object. Throws UsageError if the layer is smaller than the code's grid.
    CodedLayer(const LayerCode& code, int rank, const DenseLayer& layer);

    // Sets the rank's blocks to the encoding of outputs x inputs weights and momenta (empty: none yet).
    void encode(std::span<const float> weights, std::span<const float> momentum);

    // The rank's term of its forward symbol, x_input W(r, c)^T, and of its backward symbol, dy_output W(r, c). Only for
    // a rank whose place has that part.
    Block forward(std::span<const float> x) const;
    Block backward(std::span<const float> dy) const;

    // Encodes x and dy; add_gradient() adds their product dy^T x to the gradient; update() makes a step of SGD with it.
    void encode_gradient(std::span<const float> x, std::span<const float> dy);
    void add_gradient();
    void update(const OptimizerPlan& plan);

    // The part of y, or of dx, that a decoded part covers is written.
    void put_output(int part, const Block& decoded, std::span<float> y) const;
    void put_input(int part, const Block& decoded, std::span<float> dx) const;

    // Writes block (i, j) of a whole outputs x inputs matrix.
    void put_block(int i, int j, std::span<const Value> block, std::span<float> whole) const;

    void drop_gradient() { gradient_.setZero(); }

    Block& weights() { return weights_; }
    const Block& weights() const { return weights_; }
    Block& momentum() { return momentum_; }  // 0 x 0 without momentum
    Eigen::Index block_rows() const { return weights_.rows(); }
    Eigen::Index block_columns() const { return weights_.cols(); }
    std::int64_t product_ns() const { return product_ns_; }  // least time of forward()
    Eigen::Index outputs() const { return outputs_; }
    Eigen::Index inputs() const { return inputs_; }
    Eigen::Index samples(std::span<const float> x) const { return std::ssize(x) / inputs_; }

 private:
    Block encoded(std::span<const float> whole) const;

    const LayerCode& code_;
    Place place_;
    std::vector<double> coefficients_;  // of the blocks W_ij in the rank's block, row-major
    Eigen::Index outputs_;
    Eigen::Index inputs_;
    bool has_momentum_;
    std::int64_t product_ns_;
    Block weights_;
    Block momentum_;
    Block gradient_;
    Block coded_x_;  // of encode_gradient()
    Block coded_dy_;
};

}  // namespace ddl
