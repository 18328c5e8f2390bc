// SPDX-License-Identifier: Apache-2.0
// The products of a model's fully connected layers, whose weights lie on the ranks as blocks of a LayerCode.
#pragma once

#include "ddl-workloads/strategies/coded/coded_layer.hpp"
#include "ddl-workloads/strategies/coded/coded_products.hpp"

#include <span>
#include <string>
#include <vector>

namespace ddl {

struct WeightsPlan {
    LayerCode code;
    OptimizerPlan optimizer;
    bool reencode = false;  // the model updates its weights, and the blocks are encoded again
};

// Value: float or double, of blocks, products and symbols.
template <class Value>
class CodedWeights : public CodedProducts {
 public:
    using Block = BlockOf<Value>;

    // Encodes the model's weights. The model must outlive the object. Throws UsageError if the layers are too small for
    // the code.
    CodedWeights(WeightsPlan plan, CodedPlan products, Model& model, ExchangeThread& exchanges,
                 Instruments& instruments);

    void encode() override;
    bool keeps_weights() const override { return !plan_.reencode; }
    void forward(std::size_t layer, std::span<float> x, std::span<float> y) override;
    void backward(std::size_t layer, std::span<const float> x, std::span<const float> dy, std::span<float> dx) override;
    void update() override;
    void complete() override;
    std::vector<StateTensor> state() override;
    void restored() override;
    void repair(const std::vector<int>& ranks) override;

 protected:
    void probe(Direction& direction, std::size_t layer) override;
    void regenerate(const Direction& direction, std::size_t layer, const std::vector<int>& wrong) override;
    double encode_again() override;

 private:
    // Collective. Returns false, on all ranks, if the other blocks do not determine those of these ranks.
    bool replace_blocks(std::size_t layer, const std::vector<int>& ranks);
    int rank_of_block(int i, int j) const;

    WeightsPlan plan_;
    std::vector<CodedLayer<Value>> layers_{};
};

}  // namespace ddl
