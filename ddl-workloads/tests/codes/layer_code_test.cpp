// SPDX-License-Identifier: Apache-2.0
// Codes of layers and of single products, compared with plain products.
#include "base/error.hpp"
#include "base/random.hpp"
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/strength.hpp"
#include "ddl-workloads/codes/symbol_decoder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Options = std::map<std::string, std::string>;

struct Named {
    std::string name;
    Options options;
};

ddl::LayerCode layer(const std::string& name, const Options& options)
{
    const ddl::CodeCard& card = ddl::codes().find(name);
    return card.layer(ddl::codes().settings(card, options), 1);
}

ddl::ProductCode product(const Options& options, int ranks)
{
    const ddl::CodeCard& card = ddl::codes().find("polydot");
    return card.product(ddl::codes().settings(card, options), ranks);
}

std::vector<double> random_block(base::Random& random, std::size_t size)
{
    std::vector<double> block(size);
    for (double& value : block) value = base::draw_normal(random);
    return block;
}

template <class Value>
std::vector<const Value*> pointers(const std::vector<std::vector<Value>>& blocks)
{
    std::vector<const Value*> all;
    for (const std::vector<Value>& block : blocks) all.push_back(block.data());
    return all;
}

double largest_difference(const std::vector<double>& one, const std::vector<double>& other)
{
    double largest = 0.0;
    for (std::size_t i = 0; i < one.size(); ++i) largest = std::max(largest, std::abs(one[i] - other[i]));
    return largest;
}

// C += A B of square blocks.
void add_product(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c, std::size_t side,
                 double sign = 1.0)
{
    for (std::size_t i = 0; i < side; ++i)
        for (std::size_t j = 0; j < side; ++j)
            for (std::size_t k = 0; k < side; ++k) c[i * side + k] += sign * a[i * side + j] * b[j * side + k];
}

// A layer of square blocks, and the block of each rank.
template <class Value>
struct Layer {
    static constexpr std::size_t side = 4;
    ddl::LayerCode code;
    std::vector<std::vector<Value>> weights{};  // W_ij, row-major
    std::vector<std::vector<Value>> blocks{};   // by rank

    std::vector<std::vector<Value>> encoded() const
    {
        std::vector<std::vector<Value>> all;
        for (int rank = 0; rank < code.ranks(); ++rank) {
            all.emplace_back(side * side);
            ddl::weighted_sum(block_coefficients(code, rank), pointers(weights), std::span{all.back()});
        }
        return all;
    }
};

template <class Value>
Layer<Value> random_layer(const ddl::LayerCode& code, base::Random& random)
{
    Layer<Value> layer{.code = code};
    for (int block = 0; block < code.grid.blocks(); ++block) {
        const std::vector<double> drawn = random_block(random, layer.side * layer.side);
        layer.weights.emplace_back(drawn.begin(), drawn.end());
    }
    layer.blocks = layer.encoded();
    return layer;
}

// The largest relative difference between updated blocks and those that are encoded anew from updated weights.
template <class Value>
double drift(int updates)
{
    base::Random random = base::random_stream(7, 0);
    Layer<Value> layer = random_layer<Value>(::layer("codenet", {{"grid", "5x4"}, {"parity", "2x2"}}), random);
    constexpr std::size_t side = Layer<Value>::side;
    const ddl::LayerCode& code = layer.code;
    std::vector<std::vector<Value>> errors(static_cast<std::size_t>(code.grid.rows), std::vector<Value>(side));
    std::vector<std::vector<Value>> inputs(static_cast<std::size_t>(code.grid.columns), std::vector<Value>(side));
    const auto add = [](std::vector<Value>& block, const std::vector<Value>& error, const std::vector<Value>& input) {
        for (std::size_t i = 0; i < side; ++i)
            for (std::size_t j = 0; j < side; ++j)
                block[i * side + j] -= static_cast<Value>(0.01) * error[i] * input[j];
    };
    for (int update = 0; update < updates; ++update) {
        for (auto* some : {&errors, &inputs})
            for (std::vector<Value>& part : *some)
                for (Value& value : part) value = static_cast<Value>(base::draw_normal(random));
        for (int block = 0; block < code.grid.blocks(); ++block)
            add(layer.weights[static_cast<std::size_t>(block)],
                errors[static_cast<std::size_t>(block / code.grid.columns)],
                inputs[static_cast<std::size_t>(block % code.grid.columns)]);
        for (int rank = 0; rank < code.ranks(); ++rank) {
            const ddl::Place& place = code.places[static_cast<std::size_t>(rank)];
            std::vector<Value> error(side);
            std::vector<Value> input(side);
            ddl::weighted_sum(ddl::row_of(code.rows, place.row), pointers(errors), std::span{error});
            ddl::weighted_sum(ddl::row_of(code.columns, place.column), pointers(inputs), std::span{input});
            add(layer.blocks[static_cast<std::size_t>(rank)], error, input);
        }
    }
    double difference = 0.0;
    double size = 0.0;
    const std::vector<std::vector<Value>> fresh = layer.encoded();
    for (std::size_t rank = 0; rank < fresh.size(); ++rank)
        for (std::size_t i = 0; i < fresh[rank].size(); ++i) {
            difference +=
                std::pow(static_cast<double>(layer.blocks[rank][i]) - static_cast<double>(fresh[rank][i]), 2.0);
            size += std::pow(static_cast<double>(fresh[rank][i]), 2.0);
        }
    return std::sqrt(difference / size);
}

}  // namespace

TEST_CASE("a 5x4 grid takes 38 ranks with 2x2 parities and 40 in two copies, as many as 5x8 uncoded")
{
    CHECK(layer("codenet", {{"grid", "5x4"}, {"parity", "2x2"}}).ranks() == 38);
    CHECK(layer("replication", {{"grid", "5x4"}}).ranks() == 40);
    CHECK(layer("replication", {{"grid", "5x4"}, {"copies", "3"}}).ranks() == 60);
    CHECK(layer("uncoded", {{"grid", "5x8"}}).ranks() == 40);
    CHECK(layer("codenet", {{"grid", "3x2"}, {"parity", "1x1"}}).ranks() == 11);
    CHECK(layer("codenet", {{"grid", "2x2"}, {"parity", "0x0"}}).ranks() == 4);
}

TEST_CASE("symbols of a forward and a backward pass are encodings of the plain products")
{
    base::Random random = base::random_stream(3, 0);
    for (const Named& code_text : {Named{"uncoded", {{"grid", "3x2"}}}, Named{"replication", {{"grid", "3x2"}}},
                                   Named{"codenet", {{"grid", "3x2"}, {"parity", "2x1"}}}}) {
        CAPTURE(code_text.name);
        const Layer<double> layer = random_layer<double>(::layer(code_text.name, code_text.options), random);
        constexpr std::size_t side = Layer<double>::side;
        const ddl::LayerCode& code = layer.code;
        std::vector<std::vector<double>> x;
        for (int j = 0; j < code.grid.columns; ++j) x.push_back(random_block(random, side * side));
        std::vector<std::vector<double>> y(static_cast<std::size_t>(code.grid.rows), std::vector<double>(side * side));
        for (int i = 0; i < code.grid.rows; ++i)
            for (int j = 0; j < code.grid.columns; ++j)
                add_product(layer.weights[static_cast<std::size_t>(i * code.grid.columns + j)],
                            x[static_cast<std::size_t>(j)], y[static_cast<std::size_t>(i)], side);
        for (int symbol = 0; symbol < code.rows.rows(); ++symbol) {
            std::vector<double> sum(side * side);
            for (const int rank : forward_ranks(code, symbol)) {
                REQUIRE(rank >= 0);
                const ddl::Place& place = code.places[static_cast<std::size_t>(rank)];
                add_product(layer.blocks[static_cast<std::size_t>(rank)], x[static_cast<std::size_t>(*place.input)],
                            sum, side);
            }
            std::vector<double> encoded(side * side);
            ddl::weighted_sum(ddl::row_of(code.rows, symbol), pointers(y), std::span{encoded});
            CHECK(largest_difference(sum, encoded) < 1e-12);
        }
        // Backward with W^T: blocks are transposed.
        const auto transposed = [](const std::vector<double>& block) {
            std::vector<double> turned(block.size());
            for (std::size_t i = 0; i < side; ++i)
                for (std::size_t j = 0; j < side; ++j) turned[j * side + i] = block[i * side + j];
            return turned;
        };
        std::vector<std::vector<double>> dy;
        for (int i = 0; i < code.grid.rows; ++i) dy.push_back(random_block(random, side * side));
        std::vector<std::vector<double>> dx(static_cast<std::size_t>(code.grid.columns),
                                            std::vector<double>(side * side));
        for (int i = 0; i < code.grid.rows; ++i)
            for (int j = 0; j < code.grid.columns; ++j)
                add_product(transposed(layer.weights[static_cast<std::size_t>(i * code.grid.columns + j)]),
                            dy[static_cast<std::size_t>(i)], dx[static_cast<std::size_t>(j)], side);
        for (int symbol = 0; symbol < code.columns.rows(); ++symbol) {
            std::vector<double> sum(side * side);
            for (const int rank : backward_ranks(code, symbol)) {
                REQUIRE(rank >= 0);
                const ddl::Place& place = code.places[static_cast<std::size_t>(rank)];
                add_product(transposed(layer.blocks[static_cast<std::size_t>(rank)]),
                            dy[static_cast<std::size_t>(*place.output)], sum, side);
            }
            std::vector<double> encoded(side * side);
            ddl::weighted_sum(ddl::row_of(code.columns, symbol), pointers(dx), std::span{encoded});
            CHECK(largest_difference(sum, encoded) < 1e-12);
        }
    }
}

TEST_CASE("updated blocks stay an encoding of the updated weights")
{
    CHECK(drift<double>(5'000) < 1e-12);
    CHECK(drift<float>(1) < 1e-6);
    CHECK(drift<float>(5'000) < 5e-5);
}

TEST_CASE("the block of a rank is regenerated from healthy ranks of its row or column")
{
    base::Random random = base::random_stream(4, 0);
    for (const Named& code_text :
         {Named{"replication", {{"grid", "3x2"}}}, Named{"codenet", {{"grid", "5x4"}, {"parity", "2x2"}}}}) {
        CAPTURE(code_text.name);
        const Layer<double> layer = random_layer<double>(::layer(code_text.name, code_text.options), random);
        for (int rank = 0; rank < layer.code.ranks(); ++rank) {
            const std::vector<bool> healthy(layer.code.places.size(), true);
            const std::vector<ddl::Term> terms = regeneration(layer.code, rank, healthy);
            REQUIRE(!terms.empty());
            std::vector<double> block(layer.side * layer.side);
            for (const ddl::Term& term : terms) {
                CHECK(term.rank != rank);
                for (std::size_t i = 0; i < block.size(); ++i)
                    block[i] += term.coefficient * layer.blocks[static_cast<std::size_t>(term.rank)][i];
            }
            CHECK(largest_difference(block, layer.blocks[static_cast<std::size_t>(rank)]) < 1e-9);
        }
    }
    const ddl::LayerCode uncoded = layer("uncoded", {{"grid", "3x2"}});
    CHECK(regeneration(uncoded, 2, std::vector<bool>(6, true)).empty());
    // Both copies are needed only if one has erred.
    const ddl::LayerCode copies = layer("replication", {{"grid", "3x2"}});
    std::vector<bool> healthy(12, true);
    healthy[8] = false;  // the other copy of block 2
    CHECK(regeneration(copies, 2, healthy).empty());
}

TEST_CASE("thresholds of polynomial codes are those of their papers")
{
    CHECK(ddl::polydot_threshold(2, 2, 2) == 9);
    CHECK(ddl::polydot_threshold(1, 4, 1) == 7);   // MatDot: 2 s - 1
    CHECK(ddl::polydot_threshold(4, 1, 4) == 16);  // Polynomial: t^2
    CHECK(ddl::polydot_threshold(3, 2, 3) == 19);
    CHECK(ddl::polydot_threshold(2, 3, 2) == 14);
    CHECK(ddl::polydot_threshold(5, 4, 1) == 23);  // a vector on the right
    CHECK(ddl::polydot_forward_threshold(5, 4) == 23);
    CHECK(ddl::polydot_backward_threshold(5, 4) == 36);
    CHECK(product({{"t", "1"}, {"s", "2"}}, 0).ranks() == 3);
    CHECK_THROWS_AS(product({{"t", "1"}, {"s", "2"}}, 2), base::UsageError);
}

TEST_CASE("a product is decoded from any of its symbols that reach the threshold")
{
    constexpr std::size_t side = 3;
    base::Random random = base::random_stream(5, 0);
    for (const std::string points : {"chebyshev", "roots"})
        for (Options options : {Options{{"t", "2"}, {"s", "2"}}, Options{{"t", "1"}, {"s", "4"}},
                                Options{{"t", "4"}, {"s", "1"}}, Options{{"t", "3"}, {"s", "2"}},
                                Options{{"t", "2"}, {"s", "3"}}, Options{{"t", "3"}, {"s", "2"}, {"columns", "1"}}}) {
            options["points"] = points;
            CAPTURE(points);
            CAPTURE(options["t"]);
            CAPTURE(options["s"]);
            const ddl::ProductCode code = product(options, product(options, 0).threshold() + 2);
            std::vector<std::vector<double>> a;
            std::vector<std::vector<double>> b;
            for (int i = 0; i < code.t * code.s; ++i) a.push_back(random_block(random, side * side));
            for (int i = 0; i < code.s * code.u; ++i) b.push_back(random_block(random, side * side));
            std::vector<std::vector<double>> rows;
            const auto encoded = [](const ddl::Matrix& matrix, int row,
                                    const std::vector<std::vector<double>>& blocks) {
                std::vector<double> sum(side * side);
                ddl::weighted_sum(ddl::row_of(matrix, row), pointers(blocks), std::span{sum});
                return sum;
            };
            for (int rank = 0; rank < code.ranks(); ++rank) {
                const int first = rank * code.rows_per_symbol;
                std::vector<double> real(side * side);
                add_product(encoded(code.left, first, a), encoded(code.right, first, b), real, side);
                if (code.rows_per_symbol == 2) {
                    std::vector<double> imaginary(side * side);
                    add_product(encoded(code.left, first + 1, a), encoded(code.right, first + 1, b), real, side, -1.0);
                    add_product(encoded(code.left, first, a), encoded(code.right, first + 1, b), imaginary, side);
                    add_product(encoded(code.left, first + 1, a), encoded(code.right, first, b), imaginary, side);
                    rows.push_back(real);
                    rows.push_back(imaginary);
                } else {
                    rows.push_back(real);
                }
            }
            ddl::SymbolDecoder decoder{code.symbols, code.rows_per_symbol};
            std::vector<const double*> arrived = pointers(rows);
            for (const int lost : {1, code.ranks() - 2})
                for (int row = 0; row < code.rows_per_symbol; ++row)
                    arrived[static_cast<std::size_t>(lost * code.rows_per_symbol + row)] = nullptr;
            std::vector<std::vector<double>> parts(static_cast<std::size_t>(code.threshold()),
                                                   std::vector<double>(side * side));
            std::vector<double*> to;
            for (std::vector<double>& part : parts) to.push_back(part.data());
            REQUIRE(decoder.decode(arrived, side * side, 1e-9, to).possible);
            for (int i = 0; i < code.t; ++i)
                for (int k = 0; k < code.u; ++k) {
                    std::vector<double> plain(side * side);
                    for (int j = 0; j < code.s; ++j)
                        add_product(a[static_cast<std::size_t>(i * code.s + j)],
                                    b[static_cast<std::size_t>(j * code.u + k)], plain, side);
                    const int output = code.outputs[static_cast<std::size_t>(i * code.u + k)];
                    CHECK(largest_difference(parts[static_cast<std::size_t>(output)], plain) < 1e-6);
                }
        }
}

TEST_CASE("real points make large polynomial codes ill-conditioned, which single precision refuses")
{
    const auto condition = [](int points, ddl::Points kind) {
        return ddl::worst_condition(ddl::evaluations(points, points, kind), kind == ddl::Points::roots ? 2 : 1).largest;
    };
    CHECK(condition(23, ddl::Points::chebyshev) == doctest::Approx(1.3e8).epsilon(0.05));
    CHECK(condition(36, ddl::Points::chebyshev) == doctest::Approx(1.2e13).epsilon(0.05));
    CHECK(condition(36, ddl::Points::roots) == doctest::Approx(1.0));
    CHECK_THROWS_AS(ddl::check_single_precision(product({{"t", "5"}, {"s", "4"}, {"columns", "1"}}, 0)),
                    base::UsageError);
    CHECK_NOTHROW(ddl::check_single_precision(product({{"t", "2"}, {"s", "2"}}, 0)));
    CHECK_NOTHROW(
        ddl::check_single_precision(product({{"t", "5"}, {"s", "4"}, {"columns", "1"}, {"points", "roots"}}, 0)));
    for (const auto& [symbols, parts] : {std::pair{7, 5}, std::pair{6, 4}}) {
        const ddl::Matrix generator = ddl::systematic_generator(parts, symbols - parts, 1);
        CHECK(ddl::worst_condition(generator).largest < 1e3);
    }
}

TEST_CASE("options of codes are checked")
{
    CHECK_THROWS_AS(layer("codenet", {{"grid", "5by4"}}), base::UsageError);
    CHECK_THROWS_AS(layer("codenet", {{"grid", "0x4"}}), base::UsageError);
    CHECK_THROWS_AS(layer("replication", {{"copies", "1"}}), base::UsageError);
    CHECK_THROWS_AS(product({{"points", "rots"}}, 0), base::UsageError);
    CHECK_THROWS_AS(ddl::codes().find("codnet"), base::UsageError);
}
