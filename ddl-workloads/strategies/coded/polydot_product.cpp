// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/polydot_product.hpp"

#include "base/error.hpp"
#include "base/system/waiting.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

namespace {

SymbolRoutes one_rank_per_symbol(int ranks, int mine)
{
    SymbolRoutes routes{.mine = mine};
    for (int rank = 0; rank < ranks; ++rank) routes.ranks.push_back({rank});
    return routes;
}

// Rows of coefficients, by block of B (s x u), as those by block of B^T.
std::vector<double> transposed(std::span<const double> coefficients, int s, int u)
{
    std::vector<double> all;
    for (int k = 0; k < u; ++k)
        for (int j = 0; j < s; ++j) all.push_back(coefficients[static_cast<std::size_t>(j * u + k)]);
    return all;
}

// A complex block is its real part with its imaginary part below.
template <class Value>
BlockOf<Value> real_part(const BlockOf<Value>& block)
{
    return block.topRows(block.rows() / 2);
}
template <class Value>
BlockOf<Value> imaginary_part(const BlockOf<Value>& block)
{
    return block.bottomRows(block.rows() / 2);
}

}  // namespace

template <class Value>
PolyDotProduct<Value>::PolyDotProduct(ProductCode code, CodedPlan products, Model& model, ExchangeThread& exchanges,
                                      Instruments& instruments)
    : CodedProducts{std::move(products),
                    {.site = ErrorSite::forward,
                     .decoder = SymbolDecoder{code.symbols, code.rows_per_symbol},
                     .wanted = code.outputs,
                     .routes = one_rank_per_symbol(code.ranks(), exchanges.rank())},
                    {.site = ErrorSite::backward, .decoder = SymbolDecoder{Matrix{}}},
                    {model.with_dense_layers()->dense_layers().front().name},
                    model,
                    exchanges,
                    instruments},
      code_{std::move(code)},
      layer_{dense().dense_layers().front()},
      rows_{std::ssize(layer_.input) / layer_.inputs}
{
    if (code_.t > rows_ || code_.s > layer_.inputs || code_.u > layer_.outputs)
        base::fail_usage("polydot[t=", code_.t, ",s=", code_.s, ",columns=", code_.u,
                         "] has more blocks than a product of ", rows_, "x", layer_.inputs, " and ", layer_.inputs, "x",
                         layer_.outputs, " values");
    PolyDotProduct<Value>::encode();
}

template <class Value>
void PolyDotProduct<Value>::encode()
{
    const CodeScope scope{instruments().main(), encode_region()};
    left_ = encoded_left();
    right_ = encoded_right();
}

template <class Value>
BlockOf<Value> PolyDotProduct<Value>::encoded_left() const
{
    const Whole a{layer_.input.data(), rows_, layer_.inputs};
    const Eigen::Index rows = share(rows_, code_.t);
    Block block{code_.rows_per_symbol * rows, share(layer_.inputs, code_.s)};
    for (int part = 0; part < code_.rows_per_symbol; ++part)
        block.middleRows(part * rows, rows) = weighted_blocks<Value>(
            a, {code_.t, code_.s}, row_of(code_.left, exchanges().rank() * code_.rows_per_symbol + part));
    return block;
}

template <class Value>
BlockOf<Value> PolyDotProduct<Value>::encoded_right() const
{
    const Whole w{layer_.weights.data(), layer_.outputs, layer_.inputs};
    const Eigen::Index rows = share(layer_.outputs, code_.u);
    Block block{code_.rows_per_symbol * rows, share(layer_.inputs, code_.s)};
    for (int part = 0; part < code_.rows_per_symbol; ++part) {
        const auto coefficients = row_of(code_.right, exchanges().rank() * code_.rows_per_symbol + part);
        block.middleRows(part * rows, rows) =
            weighted_blocks<Value>(w, {code_.u, code_.s}, transposed(coefficients, code_.s, code_.u));
    }
    return block;
}

// left * right_^T
template <class Value>
BlockOf<Value> PolyDotProduct<Value>::symbol(const Block& left) const
{
    if (code_.rows_per_symbol == 1) return left * right_.transpose();
    const Block a = real_part(left);
    const Block ai = imaginary_part(left);
    const Block b = real_part(right_);
    const Block bi = imaginary_part(right_);
    Block product{left.rows(), b.rows()};
    product.topRows(a.rows()).noalias() = a * b.transpose() - ai * bi.transpose();
    product.bottomRows(a.rows()).noalias() = a * bi.transpose() + ai * b.transpose();
    return product;
}

template <class Value>
void PolyDotProduct<Value>::forward(std::size_t layer, std::span<float> x, std::span<float> y)
{
    alter("activation", layer, x);
    computed_alike(x);
    const Eigen::Index rows = left_.rows() / code_.rows_per_symbol;
    const Eigen::Index columns = right_.rows() / code_.rows_per_symbol;
    const Multiply<Value> multiply = [&](bool is_needed) {
        if (!is_needed) return Block{};
        const std::int64_t begin_ns = base::now_ns();
        const CodeScope scope{instruments().main(), product_region()};
        strike(layer, ErrorSite::forward, right_);
        Block term = symbol(left_);
        const int products = code_.rows_per_symbol * code_.rows_per_symbol;  // of reals
        base::sleep_through(begin_ns + products * layer_.product_ns / (code_.t * code_.s * code_.u));
        alter("product", layer, values_of(term));
        return term;
    };
    const std::vector<Block> parts = product(forward_direction(), layer, multiply, rows, columns);
    for (int i = 0; i < code_.t; ++i)
        for (int k = 0; k < code_.u; ++k)
            put_block(i, k, parts[static_cast<std::size_t>(i * code_.u + k)], {y.data(), rows_, layer_.outputs});
    alter("decoded", layer, y);
    computed_alike(y);
}

// The sums of the symbol's columns.
template <class Value>
void PolyDotProduct<Value>::probe(Direction& direction, std::size_t layer)
{
    const Eigen::Index rows = left_.rows() / code_.rows_per_symbol;
    Block sums{code_.rows_per_symbol, left_.cols()};
    for (int part = 0; part < code_.rows_per_symbol; ++part)
        sums.row(part) = left_.middleRows(part * rows, rows).colwise().sum();
    Symbols<Value> symbols_of_ones = symbols().gather(direction.routes, symbol(sums));
    base::code::ProductRow row;
    parts_of(direction, layer, symbols_of_ones, row);
}

// Every rank has A and B.
template <class Value>
void PolyDotProduct<Value>::regenerate(const Direction& direction, std::size_t layer, const std::vector<int>& wrong)
{
    const CodeScope scope{instruments().main(), regenerate_region()};
    std::optional<double> change;
    if (std::ranges::find(wrong, exchanges().rank()) != wrong.end()) {
        const Block left = std::exchange(left_, encoded_left());
        const Block right = std::exchange(right_, encoded_right());
        change = std::max(largest_of<Value>(left - left_), largest_of<Value>(right - right_));
    }
    count_regenerated(wrong.size());
    end_regeneration(direction, layer, change, 0.0);
}

template <class Value>
void PolyDotProduct<Value>::repair(const std::vector<int>& ranks)
{
    if (std::ranges::find(ranks, exchanges().rank()) != ranks.end()) encode();
}

template <class Value>
std::vector<StateTensor> PolyDotProduct<Value>::state()
{
    return {state_of(std::string{strategy_state} + "left/" + layer_name(0), left_),
            state_of(std::string{strategy_state} + "right/" + layer_name(0), right_)};
}

template class PolyDotProduct<float>;
template class PolyDotProduct<double>;

}  // namespace ddl
