// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/planning/simulation.hpp"

#include "base/random.hpp"
#include "ddl-workloads/codes/symbol_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ddl {

namespace {

// Numbers of operations between errors: a geometric distribution.
class Errors {
 public:
    Errors(double rate, std::uint64_t seed) : random_{base::random_stream(seed, 0)}, rate_{rate} { next(); }

    // Simulates one operation on every rank, and marks the ranks that err.
    void strike(std::vector<bool>& erred)
    {
        const auto ranks = static_cast<double>(erred.size());
        while (left_ < ranks) {
            erred[static_cast<std::size_t>(left_)] = true;
            const double at = left_;
            next();
            left_ += at + 1.0;
        }
        left_ -= ranks;
    }

    base::Random& random() { return random_; }

 private:
    void next() { left_ = std::floor(std::log(1.0 - base::draw_unit(random_)) / std::log1p(-rate_)); }

    base::Random random_;
    double rate_;
    double left_ = 0.0;  // number of operations before the next error
};

// One pass over a layer, with random numbers as symbols.
class Check {
 public:
    Check(const Matrix& generator, std::vector<std::vector<int>> ranks)
        : generator_{generator}, ranks_{std::move(ranks)}, decoder_{generator}
    {
    }

    // Repairs the ranks whose symbols are found wrong. Returns false if there are more errors than can be corrected.
    bool pass(const LayerCode& code, std::vector<bool>& erred, base::Random& random)
    {
        std::vector<bool> wrong;
        for (const std::vector<int>& ranks : ranks_)
            wrong.push_back(
                std::ranges::any_of(ranks, [&](int rank) { return erred[static_cast<std::size_t>(rank)]; }));
        if (std::ranges::find(wrong, true) == wrong.end()) return true;
        const Decoded decoded = decode(wrong, random);
        if (!decoded.possible) return false;
        std::vector<bool> healthy(erred.size(), true);
        for (const int symbol : decoded.wrong)
            for (const int rank : ranks_[static_cast<std::size_t>(symbol)])
                healthy[static_cast<std::size_t>(rank)] = false;
        for (std::size_t rank = 0; rank < healthy.size(); ++rank) {
            if (healthy[rank]) continue;
            const std::vector<Term> terms = regeneration(code, static_cast<int>(rank), healthy);
            if (terms.empty()) return false;
            // A block regenerated from a block with an undetected error has that error, too.
            erred[rank] = std::ranges::any_of(
                terms, [&](const Term& term) { return erred[static_cast<std::size_t>(term.rank)]; });
        }
        return true;
    }

 private:
    Decoded decode(const std::vector<bool>& wrong, base::Random& random)
    {
        constexpr std::size_t length = 8;
        constexpr double threshold = 1e-9;
        const auto drawn = [&] {
            std::vector<double> values(length);
            for (double& value : values) value = base::draw_normal(random);
            return values;
        };
        std::vector<std::vector<double>> parts;
        for (int part = 0; part < generator_.cols(); ++part) parts.push_back(drawn());
        std::vector<const double*> from;
        for (const std::vector<double>& part : parts) from.push_back(part.data());
        std::vector<std::vector<double>> symbols;
        for (int symbol = 0; symbol < generator_.rows(); ++symbol) {
            symbols.emplace_back(length);
            weighted_sum(row_of(generator_, symbol), from, symbols.back());
            if (!wrong[static_cast<std::size_t>(symbol)]) continue;
            const std::vector<double> error = drawn();
            for (std::size_t i = 0; i < length; ++i) symbols.back()[i] += error[i];
        }
        std::vector<const double*> rows;
        for (const std::vector<double>& symbol : symbols) rows.push_back(symbol.data());
        return decoder_.decode(rows, length, threshold, std::span<double* const>{});
    }

    Matrix generator_;
    std::vector<std::vector<int>> ranks_;  // by symbol: ranks whose products add up to it
    SymbolDecoder decoder_;
};

template <class Ranks>
Check check(const LayerCode& code, const Matrix& generator, const Ranks& ranks_of)
{
    std::vector<std::vector<int>> ranks;
    for (int symbol = 0; symbol < generator.rows(); ++symbol) ranks.push_back(ranks_of(code, symbol));
    return {generator, std::move(ranks)};
}

}  // namespace

std::int64_t simulated_rollbacks(const LayerCode& code, int layers, double error_rate, std::int64_t iterations,
                                 std::uint64_t seed)
{
    if (error_rate <= 0.0) return 0;
    Errors errors{error_rate, seed};
    Check forward = check(code, code.rows, forward_ranks);
    Check backward = check(code, code.columns, backward_ranks);
    const std::vector<std::vector<bool>> sound(static_cast<std::size_t>(layers), std::vector<bool>(code.places.size()));
    std::vector<std::vector<bool>> erred = sound;  // by layer and rank
    const auto pass_all = [&](Check& check) {
        for (std::vector<bool>& layer : erred) {
            errors.strike(layer);
            if (!check.pass(code, layer, errors.random())) return false;
        }
        return true;
    };
    std::int64_t rollbacks = 0;
    for (std::int64_t i = 0; i < iterations; ++i) {
        if (pass_all(forward) && pass_all(backward)) {
            for (std::vector<bool>& layer : erred) errors.strike(layer);
        } else {
            ++rollbacks;
            erred = sound;
        }
    }
    return rollbacks;
}

}  // namespace ddl
