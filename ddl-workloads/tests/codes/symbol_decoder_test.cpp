// SPDX-License-Identifier: Apache-2.0
// The decoder against symbols with errors of known places and sizes.
#include "ddl-workloads/codes/symbol_decoder.hpp"

#include "base/random.hpp"
#include "ddl-workloads/codes/code.hpp"

#include <Eigen/Dense>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t length = 32;
constexpr double threshold = 1e-9;
constexpr std::array sizes{std::pair{7, 5}, std::pair{8, 5}, std::pair{9, 5}, std::pair{10, 6}};  // symbols, parts

std::vector<ddl::Matrix> some_generators(int symbols, int parts)
{
    std::vector<ddl::Matrix> generators;
    for (std::uint64_t seed = 0; seed < 5; ++seed)
        generators.push_back(ddl::systematic_generator(parts, symbols - parts, seed));
    return generators;
}

// Random parts and their symbols.
template <class Value>
struct Sent {
    ddl::Matrix generator;
    std::vector<std::vector<Value>> parts{};
    std::vector<std::vector<Value>> symbols{};

    Sent(const ddl::Matrix& generator_, base::Random& random) : generator{generator_}
    {
        for (int part = 0; part < generator.cols(); ++part) {
            parts.emplace_back();
            for (std::size_t i = 0; i < length; ++i)
                parts.back().push_back(static_cast<Value>(base::draw_normal(random)));
        }
        for (int symbol = 0; symbol < generator.rows(); ++symbol) {
            symbols.emplace_back(length);
            for (std::size_t i = 0; i < length; ++i) {
                double sum = 0.0;
                for (int part = 0; part < generator.cols(); ++part)
                    sum += generator(symbol, part) * static_cast<double>(parts[static_cast<std::size_t>(part)][i]);
                symbols.back()[i] = static_cast<Value>(sum);
            }
        }
    }

    void add_random(int symbol, base::Random& random, double size = 1.0)
    {
        for (Value& value : symbols[static_cast<std::size_t>(symbol)])
            value += static_cast<Value>(size * base::draw_normal(random));
    }

    ddl::Decoded decode(std::vector<std::vector<Value>>& to, const std::vector<int>& missing = {},
                        double limit = threshold, double least_size = 0.0) const
    {
        std::vector<const Value*> rows;
        for (const std::vector<Value>& symbol : symbols) rows.push_back(symbol.data());
        for (const int symbol : missing) rows[static_cast<std::size_t>(symbol)] = nullptr;
        to.assign(parts.size(), std::vector<Value>(length));
        std::vector<Value*> places;
        for (std::vector<Value>& part : to) places.push_back(part.data());
        ddl::SymbolDecoder decoder{generator};
        return decoder.decode(rows, length, limit, places, least_size);
    }

    // True if exactly these symbols were found wrong, and all parts are right.
    bool corrects(const std::vector<int>& wrong, const std::vector<int>& missing = {}, double limit = threshold,
                  double error = 1e-9) const
    {
        std::vector<std::vector<Value>> to;
        const ddl::Decoded decoded = decode(to, missing, limit);
        if (!decoded.possible || decoded.wrong != wrong) return false;
        for (std::size_t part = 0; part < parts.size(); ++part)
            for (std::size_t i = 0; i < length; ++i)
                if (!(std::abs(static_cast<double>(to[part][i] - parts[part][i])) < error)) return false;
        return true;
    }
};

std::vector<int> drawn(base::Random& random, int of, int count)
{
    std::vector<int> all(static_cast<std::size_t>(of));
    std::iota(all.begin(), all.end(), 0);
    base::shuffle(random, std::span{all});
    all.resize(static_cast<std::size_t>(count));
    std::ranges::sort(all);
    return all;
}

// Errors that make the wrong symbols agree with as many right ones as possible: those of other parts that have the same
// symbols in Q - 1 places.
void add_conspiring(Sent<double>& sent, const std::vector<int>& wrong, base::Random& random)
{
    const Eigen::Index parts = sent.generator.cols();
    Eigen::MatrixXd equal(parts - 1, parts);
    int row = 0;
    for (int symbol = 0; symbol < sent.generator.rows() && row < parts - 1; ++symbol) {
        if (std::ranges::find(wrong, symbol) != wrong.end()) continue;
        for (int part = 0; part < parts; ++part) equal(row, part) = sent.generator(symbol, part);
        ++row;
    }
    const Eigen::VectorXd change = Eigen::FullPivLU<Eigen::MatrixXd>{equal}.kernel().col(0).normalized();
    for (std::size_t i = 0; i < length; ++i) {
        const double size = base::draw_normal(random);
        for (const int symbol : wrong)
            for (int part = 0; part < parts; ++part)
                sent.symbols[static_cast<std::size_t>(symbol)][i] += size * sent.generator(symbol, part) * change[part];
    }
}

}  // namespace

TEST_CASE("P - Q - 1 random errors are corrected and P - Q are not")
{
    base::Random random = base::random_stream(1, 0);
    for (const auto& size : sizes) {
        const int symbols = size.first;
        const int parts = size.second;
        const std::vector<ddl::Matrix> generators = some_generators(symbols, parts);
        for (int errors = 0; errors <= symbols - parts; ++errors) {
            CAPTURE(symbols);
            CAPTURE(errors);
            int corrected = 0;
            for (int trial = 0; trial < 200; ++trial) {
                Sent<double> sent{generators[static_cast<std::size_t>(trial) % generators.size()], random};
                const std::vector<int> wrong = drawn(random, symbols, errors);
                for (const int symbol : wrong) sent.add_random(symbol, random);
                corrected += sent.corrects(wrong) ? 1 : 0;
            }
            CHECK(corrected == (errors < symbols - parts ? 200 : 0));
        }
    }
}

TEST_CASE("half of P - Q conspiring errors are corrected and not one more")
{
    base::Random random = base::random_stream(2, 0);
    for (const auto& size : sizes) {
        const int symbols = size.first;
        const int parts = size.second;
        const std::vector<ddl::Matrix> generators = some_generators(symbols, parts);
        for (int errors = 1; errors <= (symbols - parts) / 2 + 1; ++errors) {
            CAPTURE(symbols);
            CAPTURE(errors);
            int corrected = 0;
            for (int trial = 0; trial < 50; ++trial) {
                Sent<double> sent{generators[static_cast<std::size_t>(trial) % generators.size()], random};
                const std::vector<int> wrong = drawn(random, symbols, errors);
                add_conspiring(sent, wrong, random);
                corrected += sent.corrects(wrong) ? 1 : 0;
            }
            CHECK(corrected == (errors <= (symbols - parts) / 2 ? 50 : 0));
        }
    }
}

TEST_CASE("a missing symbol costs one of those that correct errors")
{
    base::Random random = base::random_stream(3, 0);
    const ddl::Matrix generator = ddl::systematic_generator(5, 3, 1);
    for (int trial = 0; trial < 50; ++trial) {
        const std::vector<int> some = drawn(random, 8, 3);
        Sent<double> sent{generator, random};
        CHECK(sent.corrects({}, some));
        sent.add_random(some[0], random);
        CHECK(sent.corrects({some[0]}, {some[1]}));
        std::vector<std::vector<double>> to;
        CHECK_FALSE(sent.decode(to, {some[1], some[2]}).possible);
        CHECK_FALSE(sent.decode(to, {0, 1, 2, 3}).possible);
    }
}

TEST_CASE("copies vote for each part")
{
    base::Random random = base::random_stream(4, 0);
    std::vector<std::vector<double>> to;
    Sent<double> two{ddl::repeated_identity(4, 2), random};
    CHECK(two.corrects({}));
    CHECK(two.corrects({}, {0, 5, 6, 7}));
    two.add_random(5, random);
    CHECK_FALSE(two.decode(to).possible);
    Sent<double> three{ddl::repeated_identity(4, 3), random};
    for (const int symbol : {0, 5, 10, 11}) {  // a copy of 0, 1 and 2, and the last of 3
        three.add_random(symbol, random);
    }
    CHECK(three.corrects({0, 5, 10, 11}));
    three.add_random(4, random);  // the second of 0
    CHECK_FALSE(three.decode(to).possible);
}

TEST_CASE("infinite and huge errors hide no small ones")
{
    base::Random random = base::random_stream(5, 0);
    const ddl::Matrix generator = ddl::systematic_generator(5, 4, 1);
    for (const double huge : {1e12, 1e30}) {
        Sent<double> sent{generator, random};
        sent.add_random(2, random, huge);
        sent.add_random(7, random, 1e-3);
        CHECK(sent.corrects({2, 7}));
        sent.symbols[4][3] = std::numeric_limits<double>::infinity();
        CHECK(sent.corrects({2, 4, 7}));
        sent.symbols[4][3] = std::nan("");
        CHECK(sent.corrects({2, 4, 7}));
    }
    Sent<float> single{generator, random};
    single.add_random(0, random, 1e30);
    single.add_random(6, random, 0.1);
    CHECK(single.corrects({0, 6}, {}, 1e-5, 1e-4));
}

TEST_CASE("rounding of single precision is no error and anything above the smallest detectable is")
{
    base::Random random = base::random_stream(6, 0);
    const ddl::Matrix generator = ddl::systematic_generator(5, 2, 1);
    constexpr double limit = 1e-6;
    const double detectable = ddl::SymbolDecoder{generator}.smallest_detectable(limit);
    CHECK(detectable < 1e-3);
    std::vector<std::vector<float>> to;
    int alarms = 0;
    int missed = 0;
    for (int trial = 0; trial < 1'000; ++trial) {
        Sent<float> sent{generator, random};
        const ddl::Decoded sound = sent.decode(to, {}, limit);
        alarms += sound.possible && sound.wrong.empty() ? 0 : 1;
        float largest = 0.0F;
        for (const std::vector<float>& symbol : sent.symbols)
            for (const float value : symbol) largest = std::max(largest, std::abs(value));
        const auto symbol = static_cast<std::size_t>(base::draw_below(random, 7));
        sent.symbols[symbol][base::draw_below(random, length)] += static_cast<float>(1.5 * detectable) * largest;
        const ddl::Decoded wrong = sent.decode(to, {}, limit);
        missed += wrong.possible && wrong.wrong.empty() ? 1 : 0;
    }
    CHECK(alarms == 0);
    CHECK(missed == 0);
}

TEST_CASE("enough symbols are those that determine each part, also without the spare ones")
{
    const ddl::SymbolDecoder coded{ddl::systematic_generator(3, 2, 1)};
    CHECK(coded.enough({true, true, false, false, true}));
    CHECK_FALSE(coded.enough({true, true, false, false, true}, 1));
    CHECK(coded.enough({true, true, false, true, true}, 1));
    CHECK_FALSE(coded.enough({true, true, false, false, false}));
    const ddl::SymbolDecoder copies{ddl::repeated_identity(2, 2)};
    CHECK(copies.enough({true, false, false, true}));
    CHECK_FALSE(copies.enough({true, false, true, false}));
}

TEST_CASE("symbols are compared relative to the largest of them, or to a size that is given")
{
    base::Random random{5};
    Sent<double> sent{ddl::systematic_generator(2, 2, 5), random};
    sent.add_random(1, random, 1e-3);
    std::vector<std::vector<double>> to;
    const ddl::Decoded found = sent.decode(to);
    CHECK(found.wrong == std::vector<int>{1});
    CHECK(found.size > 0.1);
    CHECK(found.size < 10.0);
    const ddl::Decoded among_larger = sent.decode(to, {}, threshold, 1e9);
    CHECK(among_larger.possible);
    CHECK(among_larger.wrong.empty());
}
