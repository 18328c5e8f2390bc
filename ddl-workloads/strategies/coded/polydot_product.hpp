// SPDX-License-Identifier: Apache-2.0
// A single product under a ProductCode (PolyDot, MatDot, Polynomial): each rank multiplies one encoded block of A with
// one of B. The model's layer is A W^T, so that B = W^T.
#pragma once

#include "ddl-workloads/codes/product_code.hpp"
#include "ddl-workloads/strategies/coded/coded_products.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ddl {

// Value: float or double, of blocks, products and symbols.
template <class Value>
class PolyDotProduct : public CodedProducts {
 public:
    using Block = BlockOf<Value>;

    // Encodes A and B of the model's only layer. The model must outlive the object. Throws UsageError if a matrix is
    // smaller than the code's grid.
    PolyDotProduct(ProductCode code, CodedPlan products, Model& model, ExchangeThread& exchanges,
                   Instruments& instruments);

    void encode() override;
    bool keeps_weights() const override { return false; }
    void forward(std::size_t layer, std::span<float> x, std::span<float> y) override;
    void backward(std::size_t, std::span<const float>, std::span<const float>, std::span<float>) override {}
    void update() override {}
    void complete() override {}
    std::vector<StateTensor> state() override;
    void restored() override {}
    void repair(const std::vector<int>& ranks) override;

 protected:
    void probe(Direction& direction, std::size_t layer) override;
    void regenerate(const Direction& direction, std::size_t layer, const std::vector<int>& wrong) override;
    double encode_again() override { return 0.0; }

 private:
    Block encoded_left() const;
    Block encoded_right() const;
    Block symbol(const Block& left) const;

    ProductCode code_;
    DenseLayer layer_;
    Eigen::Index rows_;  // of A
    Block left_;         // block of A; a complex one has its imaginary part below the real one
    Block right_;        // block of W = B^T, likewise
};

}  // namespace ddl
