// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/coded_weights.hpp"

#include "base/system/waiting.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ddl {

namespace {

std::vector<std::string> layer_names(Model& model)
{
    std::vector<std::string> names;
    for (const DenseLayer& layer : model.with_dense_layers()->dense_layers()) names.push_back(layer.name);
    return names;
}

std::vector<int> all_parts(const Matrix& generator)
{
    std::vector<int> parts(static_cast<std::size_t>(generator.cols()));
    std::iota(parts.begin(), parts.end(), 0);
    return parts;
}

}  // namespace

template <class Value>
CodedWeights<Value>::CodedWeights(WeightsPlan plan, CodedPlan products, Model& model, ExchangeThread& exchanges,
                                  Instruments& instruments)
    : CodedProducts{std::move(products),
                    {.site = ErrorSite::forward,
                     .decoder = SymbolDecoder{plan.code.rows},
                     .wanted = all_parts(plan.code.rows),
                     .plain = plan.code.rows.rows() == plan.code.rows.cols()},
                    {.site = ErrorSite::backward,
                     .decoder = SymbolDecoder{plan.code.columns},
                     .wanted = all_parts(plan.code.columns),
                     .plain = plan.code.columns.rows() == plan.code.columns.cols()},
                    layer_names(model),
                    model,
                    exchanges,
                    instruments},
      plan_{std::move(plan)}
{
    const LayerCode& code = plan_.code;
    SymbolRoutes& forward = forward_direction().routes;
    SymbolRoutes& backward = backward_direction().routes;
    for (int i = 0; i < code.rows.rows(); ++i) forward.ranks.push_back(forward_ranks(code, i));
    for (int j = 0; j < code.columns.rows(); ++j) backward.ranks.push_back(backward_ranks(code, j));
    const Place& place = code.places.at(static_cast<std::size_t>(exchanges.rank()));
    if (place.input) forward.mine = place.row;
    if (place.output) backward.mine = place.column;
    for (const DenseLayer& layer : dense().dense_layers()) layers_.emplace_back(plan_.code, exchanges.rank(), layer);
    CodedWeights<Value>::encode();
}

template <class Value>
void CodedWeights<Value>::encode()
{
    const CodeScope scope{instruments().main(), encode_region()};
    const std::vector<DenseLayer> whole = dense().dense_layers();
    for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].encode(whole[i].weights, whole[i].momentum);
}

template <class Value>
void CodedWeights<Value>::forward(std::size_t layer, std::span<float> x, std::span<float> y)
{
    CodedLayer<Value>& coded = layers_[layer];
    alter("activation", layer, x);
    computed_alike(x);
    const Multiply<Value> multiply = [&](bool is_needed) {
        Block term{coded.samples(x), coded.block_rows()};
        if (!is_needed) return term;
        const std::int64_t begin_ns = base::now_ns();
        const CodeScope scope{instruments().main(), product_region()};
        strike(layer, ErrorSite::forward, coded.weights());
        term = coded.forward(x);
        base::sleep_through(begin_ns + coded.product_ns());
        alter("product", layer, values_of(term));
        return term;
    };
    if (!forward_direction().routes.mine) alter("product", layer, std::span<Value>{});
    const std::vector<Block> parts =
        product(forward_direction(), layer, multiply, coded.samples(x), coded.block_rows());
    for (std::size_t i = 0; i < parts.size(); ++i) coded.put_output(static_cast<int>(i), parts[i], y);
    alter("decoded", layer, y);
    computed_alike(y);
}

template <class Value>
void CodedWeights<Value>::backward(std::size_t layer, std::span<const float> x, std::span<const float> dy,
                                   std::span<float> dx)
{
    CodedLayer<Value>& coded = layers_[layer];
    const auto add_gradient = [&] {
        if (plan_.reencode) return;
        {
            const CodeScope scope{instruments().main(), encode_region()};
            coded.encode_gradient(x, dy);
        }
        const CodeScope scope{instruments().main(), product_region()};
        coded.add_gradient();
    };
    const Multiply<Value> multiply = [&](bool is_needed) {
        Block term{coded.samples(x), coded.block_columns()};
        if (is_needed) {
            const CodeScope scope{instruments().main(), product_region()};
            strike(layer, ErrorSite::backward, coded.weights());
            term = coded.backward(dy);
        }
        add_gradient();
        return term;
    };
    computed_alike(dy);
    if (dx.empty()) {
        if (!failed()) add_gradient();
        return;
    }
    const std::vector<Block> parts =
        product(backward_direction(), layer, multiply, coded.samples(x), coded.block_columns());
    for (std::size_t j = 0; j < parts.size(); ++j) coded.put_input(static_cast<int>(j), parts[j], dx);
}

template <class Value>
void CodedWeights<Value>::probe(Direction& direction, std::size_t layer)
{
    const CodedLayer<Value>& coded = layers_[layer];
    const bool is_forward = direction.site == ErrorSite::forward;
    const std::vector<float> ones(static_cast<std::size_t>(is_forward ? coded.inputs() : coded.outputs()), 1.0F);
    Block term{1, is_forward ? coded.block_rows() : coded.block_columns()};
    if (direction.routes.mine) term = is_forward ? coded.forward(ones) : coded.backward(ones);
    Symbols<Value> symbols_of_ones = symbols().gather(direction.routes, term);
    base::code::ProductRow row;
    parts_of(direction, layer, symbols_of_ones, row);
}

template <class Value>
void CodedWeights<Value>::regenerate(const Direction& direction, std::size_t layer, const std::vector<int>& wrong)
{
    std::vector<int> suspects;
    for (const int symbol : wrong)
        for (const int rank : direction.routes.ranks[static_cast<std::size_t>(symbol)]) suspects.push_back(rank);
    const Block before = layers_[layer].weights();
    if (!replace_blocks(layer, suspects)) return fail();
    const Block& after = layers_[layer].weights();
    std::optional<double> change;
    if (std::ranges::find(suspects, exchanges().rank()) != suspects.end()) change = largest_of<Value>(after - before);
    end_regeneration(direction, layer, change, largest_of(after));
}

template <class Value>
void CodedWeights<Value>::repair(const std::vector<int>& ranks)
{
    for (std::size_t layer = 0; layer < layers_.size(); ++layer)
        if (!replace_blocks(layer, ranks)) fail();
}

template <class Value>
bool CodedWeights<Value>::replace_blocks(std::size_t layer, const std::vector<int>& ranks)
{
    const CodeScope scope{instruments().main(), regenerate_region()};
    std::vector<bool> healthy(static_cast<std::size_t>(plan_.code.ranks()), true);
    for (const int rank : ranks) healthy[static_cast<std::size_t>(rank)] = false;
    std::vector<Repair> repairs;
    for (const int rank : ranks) {
        repairs.push_back({.rank = rank, .terms = regeneration(plan_.code, rank, healthy)});
        if (repairs.back().terms.empty()) return false;
    }
    CodedLayer<Value>& coded = layers_[layer];
    symbols().repair(repairs, coded.weights());
    if (coded.momentum().size() > 0) symbols().repair(repairs, coded.momentum());
    count_regenerated(repairs.size());
    return true;
}

template <class Value>
void CodedWeights<Value>::update()
{
    if (plan_.reencode) encode();
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
        if (!plan_.reencode) layers_[layer].update(plan_.optimizer);
        strike(layer, ErrorSite::update, layers_[layer].weights());
    }
}

template <class Value>
std::vector<StateTensor> CodedWeights<Value>::state()
{
    std::vector<StateTensor> all;
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
        all.push_back(state_of(std::string{strategy_state} + "weight/" + layer_name(layer), layers_[layer].weights()));
        if (layers_[layer].momentum().size() > 0)
            all.push_back(
                state_of(std::string{strategy_state} + "momentum/" + layer_name(layer), layers_[layer].momentum()));
    }
    return all;
}

template <class Value>
void CodedWeights<Value>::restored()
{
    for (CodedLayer<Value>& layer : layers_) layer.drop_gradient();
}

template <class Value>
void CodedWeights<Value>::complete()
{
    if (!begun()) return;
    meet();
    if (plan_.reencode) return;
    const std::vector<DenseLayer> whole = dense().dense_layers();
    const auto gather = [&](const CodedLayer<Value>& layer, const Block& mine, std::span<float> all) {
        const auto size = static_cast<std::size_t>(mine.size());
        std::vector<Value> blocks(size * static_cast<std::size_t>(exchanges().size()));
        exchanges()
            .all_gather(std::as_bytes(std::span{mine.data(), size}), std::as_writable_bytes(std::span{blocks}))
            .get();
        for (int i = 0; i < plan_.code.grid.rows; ++i)
            for (int j = 0; j < plan_.code.grid.columns; ++j) {
                const auto rank = static_cast<std::size_t>(rank_of_block(i, j));
                layer.put_block(i, j, std::span{blocks}.subspan(rank * size, size), all);
            }
    };
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        CodedLayer<Value>& layer = layers_[i];
        gather(layer, layer.weights(), whole[i].weights);
        if (!whole[i].momentum.empty()) gather(layer, layer.momentum(), whole[i].momentum);
    }
}

template <class Value>
double CodedWeights<Value>::encode_again()
{
    complete();
    std::vector<Block> before;
    for (const CodedLayer<Value>& layer : layers_) before.push_back(layer.weights());
    encode();
    double change = 0.0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Block& after = layers_[i].weights();
        const double apart = largest_of<Value>(after - before[i]);
        if (apart > 0.0) change = std::max(change, apart / largest_of(after));
    }
    return change;
}

template <class Value>
int CodedWeights<Value>::rank_of_block(int i, int j) const
{
    const auto is_there = [&](const Place& place) { return place.row == i && place.column == j; };
    return static_cast<int>(std::ranges::find_if(plan_.code.places, is_there) - plan_.code.places.begin());
}

template class CodedWeights<float>;
template class CodedWeights<double>;

}  // namespace ddl
