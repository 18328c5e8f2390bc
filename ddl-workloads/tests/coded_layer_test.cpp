// SPDX-License-Identifier: Apache-2.0
// Coded blocks of a layer, compared with the same layer in double precision, computed by plain loops.
#include "ddl-workloads/strategies/coded/coded_layer.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "ddl-workloads/codes/code.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

constexpr std::size_t layer_outputs = 7;  // not a multiple of the grid's 3 rows
constexpr std::size_t layer_inputs = 5;   // nor of its 2 columns
constexpr std::size_t layer_samples = 4;

ddl::LayerCode code_3x2()
{
    const ddl::CodeCard& card = ddl::codes().find("codenet");
    return card.layer(ddl::codes().settings(card, {{"grid", "3x2"}, {"parity", "1x1"}}), 1);
}

std::vector<float> drawn(base::Random& random, std::size_t size)
{
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(base::draw_normal(random));
    return values;
}

struct Plain {
    std::vector<double> weights;
    std::vector<double> momentum = std::vector<double>(layer_outputs * layer_inputs);

    void step(const std::vector<float>& x, const std::vector<float>& dy, const ddl::OptimizerPlan& plan)
    {
        for (std::size_t i = 0; i < layer_outputs; ++i)
            for (std::size_t j = 0; j < layer_inputs; ++j) {
                double gradient = plan.weight_decay * weights[i * layer_inputs + j];
                for (std::size_t s = 0; s < layer_samples; ++s)
                    gradient +=
                        static_cast<double>(dy[s * layer_outputs + i]) * static_cast<double>(x[s * layer_inputs + j]);
                double& kept = momentum[i * layer_inputs + j];
                kept = plan.momentum * kept + gradient;
                weights[i * layer_inputs + j] -= plan.learning_rate * kept;
            }
    }

    // The rank's block, by plain loops over the blocks of the code's grid.
    template <class Value>
    ddl::BlockOf<Value> encoded(const ddl::LayerCode& code, int rank) const
    {
        const ddl::Place& place = code.places[static_cast<std::size_t>(rank)];
        constexpr int rows = 3;     // ceil(7 / 3)
        constexpr int columns = 3;  // ceil(5 / 2)
        ddl::BlockOf<double> sum = ddl::BlockOf<double>::Zero(rows, columns);
        for (int i = 0; const double weight : weights) {
            const int row = i / static_cast<int>(layer_inputs);
            const int column = i % static_cast<int>(layer_inputs);
            sum(row % rows, column % columns) +=
                code.rows(place.row, row / rows) * code.columns(place.column, column / columns) * weight;
            ++i;
        }
        return sum.template cast<Value>();
    }
};

template <class Value>
double relative_difference(const ddl::BlockOf<Value>& is, const ddl::BlockOf<Value>& should_be)
{
    return static_cast<double>((is - should_be).norm() / should_be.norm());
}

// The largest relative difference between a rank's block after 5000 updates and a fresh encoding.
template <class Value>
double drift_of_5000_updates()
{
    const ddl::LayerCode code = code_3x2();
    base::Random random = base::random_stream(7, 0);
    std::vector<float> weights = drawn(random, layer_outputs * layer_inputs);
    std::vector<float> momentum(weights.size());
    const ddl::DenseLayer layer{
        .name = "layer", .outputs = layer_outputs, .inputs = layer_inputs, .weights = weights, .momentum = momentum};
    std::vector<ddl::CodedLayer<Value>> ranks;
    for (int rank = 0; rank < code.ranks(); ++rank) {
        ranks.emplace_back(code, rank, layer);
        ranks.back().encode(weights, {});
    }
    Plain plain{.weights = {weights.begin(), weights.end()}};
    const ddl::OptimizerPlan sgd{.learning_rate = 0.01, .momentum = 0.9, .weight_decay = 1e-3};
    for (int step = 0; step < 5000; ++step) {
        const std::vector<float> x = drawn(random, layer_samples * layer_inputs);
        const std::vector<float> dy = drawn(random, layer_samples * layer_outputs);
        plain.step(x, dy, sgd);
        for (ddl::CodedLayer<Value>& rank : ranks) {
            rank.encode_gradient(x, dy);
            rank.add_gradient();
            rank.update(sgd);
        }
    }
    double largest = 0.0;
    for (int rank = 0; rank < code.ranks(); ++rank)
        largest = std::max(largest, relative_difference<Value>(ranks[static_cast<std::size_t>(rank)].weights(),
                                                               plain.encoded<Value>(code, rank)));
    return largest;
}

}  // namespace

TEST_CASE("blocks that were updated 5000 times are those of a fresh encoding")
{
    CHECK(drift_of_5000_updates<float>() < 5e-5);
    CHECK(drift_of_5000_updates<double>() < 1e-12);
}

TEST_CASE("a grid that is larger than a layer is refused")
{
    const ddl::LayerCode code = code_3x2();
    std::vector<float> weights(10);
    CHECK_THROWS_WITH_AS(
        (ddl::CodedLayer<float>{code, 0, {.name = "head", .outputs = 2, .inputs = 5, .weights = weights}}),
        "a grid of 3x2 blocks is larger than the layer head of 2x5 weights", base::UsageError);
}
