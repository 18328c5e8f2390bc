// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/symbol_decoder.hpp"

#include "ddl-workloads/codes/suspects.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace ddl {

namespace {

std::size_t at(int index)
{
    return static_cast<std::size_t>(index);
}

// The largest magnitude; not finite if a value is not: as integers, magnitudes have the same order.
template <class Value>
double largest_of(const Value* values, std::size_t length)
{
    using Bits = std::conditional_t<sizeof(Value) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    constexpr Bits magnitude = std::numeric_limits<Bits>::max() >> 1U;
    Bits largest = 0;
    for (std::size_t i = 0; i < length; ++i) largest = std::max(largest, std::bit_cast<Bits>(values[i]) & magnitude);
    return static_cast<double>(std::bit_cast<Value>(largest));
}

// Compares symbols with their values as predicted by a basis.
template <class Value>
class Comparison {
 public:
    Comparison(std::span<const Value* const> rows, std::size_t length, double least_size)
        : rows_{rows}, length_{length}, least_size_{least_size}
    {
    }

    // Returns false if a value is not finite. Call it for each row before rows are compared.
    bool is_finite(int row)
    {
        sizes_[row] = largest_of(rows_[at(row)], length_);
        return std::isfinite(sizes_[row]);
    }

    // The largest magnitude in the rows that is_finite() has found to be finite.
    double largest() const
    {
        double largest = 0.0;
        for (const auto& [row, size] : sizes_)
            if (std::isfinite(size)) largest = std::max(largest, size);
        return largest;
    }

    double residual(const SymbolBasis& basis)
    {
        std::vector<double> largest(basis.others.size());
        visit(basis, [&](std::size_t other, std::span<const double> differences) {
            const Eigen::Map<const Eigen::ArrayXd> all{differences.data(), std::ssize(differences)};
            largest[other] = std::max(largest[other], all.abs().maxCoeff());
        });
        const double size = size_of(basis);
        double worst = 0.0;
        for (std::size_t other = 0; size > 0.0 && other < largest.size(); ++other)
            worst = std::max(worst, largest[other] / (basis.scales[other] * size));
        return worst;
    }

    Differences differences(const SymbolBasis& basis)
    {
        const auto others = static_cast<int>(basis.others.size());
        Differences sums{.products = Matrix::Zero(others, others)};
        const double size = size_of(basis);
        std::vector<std::vector<double>> some(basis.others.size());
        visit(basis, [&](std::size_t other, std::span<const double> values) {
            some[other].clear();
            for (const double value : values) some[other].push_back(value / (basis.scales[other] * size));
            if (other + 1 < basis.others.size()) return;
            for (int i = 0; i < others; ++i)
                for (int j = 0; j < others; ++j)
                    for (std::size_t k = 0; k < some[at(i)].size(); ++k)
                        sums.products(i, j) += some[at(i)][k] * some[at(j)][k];
        });
        return sums;
    }

 private:
    double size_of(const SymbolBasis& basis) const
    {
        double largest = least_size_;
        for (const int row : basis.rows) largest = std::max(largest, sizes_.at(row));
        for (const int row : basis.others) largest = std::max(largest, sizes_.at(row));
        return largest;
    }

    // Calls see(other, differences) for the first piece of each of the other rows, then for the second piece of each,
    // and so on.
    template <class See>
    void visit(const SymbolBasis& basis, const See& see)
    {
        for (std::size_t from = 0; from < length_; from += piece_.size()) {
            const std::span<double> piece = std::span{piece_}.first(std::min(piece_.size(), length_ - from));
            for (std::size_t other = 0; other < basis.others.size(); ++other) {
                const Value* const values = rows_[at(basis.others[other])] + from;
                for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<double>(values[i]);
                for (std::size_t b = 0; b < basis.rows.size(); ++b) {
                    const double coefficient = basis.predicted(static_cast<int>(other), static_cast<int>(b));
                    if (coefficient == 0.0) continue;
                    const Value* const read = rows_[at(basis.rows[b])] + from;
                    for (std::size_t i = 0; i < piece.size(); ++i)
                        piece[i] -= coefficient * static_cast<double>(read[i]);
                }
                see(other, piece);
            }
        }
    }

    std::span<const Value* const> rows_;
    std::size_t length_;
    double least_size_;
    std::map<int, double> sizes_{};  // largest magnitude by row
    std::array<double, 1024> piece_{};
};

}  // namespace

struct SymbolDecoder::Answer {
    bool possible = false;
    std::vector<bool> there{};  // members of the consistent set
    double residual = 0.0;
    double size = 0.0;
};

SymbolDecoder::SymbolDecoder(Matrix generator, int rows_per_symbol)
    : generator_{std::move(generator)}, rows_per_symbol_{rows_per_symbol}
{
    for (SymbolGroup& members : symbol_groups(generator_, rows_per_symbol_))
        groups_.push_back({.members = std::move(members)});
}

bool SymbolDecoder::enough(const std::vector<bool>& arrived, int spare) const
{
    return std::ranges::all_of(groups_, [&](const Group& group) {
        const auto there =
            std::ranges::count_if(group.members.symbols, [&](int symbol) { return arrived[at(symbol)]; });
        return there >= std::ssize(group.members.parts) + spare;
    });
}

const SymbolBasis& SymbolDecoder::basis(Group& group, const std::vector<bool>& there)
{
    const auto found = group.bases.find(there);
    if (found != group.bases.end()) return found->second;
    return group.bases.emplace(there, symbol_basis(generator_, rows_per_symbol_, group.members, there)).first->second;
}

template <class Value>
SymbolDecoder::Answer SymbolDecoder::solve(Group& group, std::span<const Value* const> rows, std::size_t length,
                                           Limits limits)
{
    constexpr std::size_t most_kept = 1000;  // of the bases
    if (group.bases.size() > most_kept) group.bases.clear();
    const double threshold = limits.threshold;
    Comparison<Value> comparison{rows, length, limits.least_size};
    Answer answer;
    std::vector<int> present;
    for (const int symbol : group.members.symbols) {
        bool usable = true;
        for (int row = symbol * rows_per_symbol_; row < (symbol + 1) * rows_per_symbol_; ++row)
            usable = usable && rows[at(row)] != nullptr && comparison.is_finite(row);
        answer.there.push_back(usable);
        if (usable) present.push_back(symbol);
    }
    answer.size = comparison.largest();
    const SymbolBasis& whole = basis(group, answer.there);
    if (!whole.complete) return answer;
    answer.residual = comparison.residual(whole);
    answer.possible = answer.residual <= threshold;
    if (answer.possible) return answer;

    // Finds the smallest set of symbols without which the others agree. At least one more symbol than needed must
    // remain, or agreement would prove nothing.
    const Differences differences = comparison.differences(whole);
    const int spare = static_cast<int>(std::ssize(present) - std::ssize(group.members.parts));
    for (int wrong = 1; wrong < spare; ++wrong) {
        struct Consistent {
            double residual = 0.0;
            std::vector<bool> there{};
        };
        std::vector<Consistent> found;
        constexpr std::size_t most_tried = 64;
        const std::vector<Suspects> sets = suspects(whole, differences, present, rows_per_symbol_, wrong);
        for (std::size_t i = 0; i < std::min(sets.size(), most_tried); ++i) {
            // The second set shows whether the first is unique. Sets that differ only by rounding are all tried,
            // because rounding of a huge error's square hides a small error.
            if (i >= 2 && sets[i].differences > 1e-12 * differences.sum_of_squares()) break;
            std::vector<bool> there = answer.there;
            for (const int symbol : sets[i].symbols)
                there[at(static_cast<int>(std::ranges::find(group.members.symbols, symbol) -
                                          group.members.symbols.begin()))] = false;
            const SymbolBasis& rest = basis(group, there);
            if (!rest.complete) continue;
            if (const double left = comparison.residual(rest); left <= threshold)
                found.push_back({left, std::move(there)});
        }
        if (found.empty()) continue;
        std::ranges::stable_sort(found, {}, &Consistent::residual);
        // If the error is just above the threshold, another symbol may explain it nearly as well.
        const bool unique = found.size() == 1 || found[1].residual > std::max(4.0 * found[0].residual, threshold / 8.0);
        if (!unique) return answer;
        return {
            .possible = true, .there = std::move(found[0].there), .residual = found[0].residual, .size = answer.size};
    }
    return answer;
}

template <class Value>
Decoded SymbolDecoder::decode_all(std::span<const Value* const> rows, std::size_t length, Limits limits,
                                  std::span<Value* const> parts)
{
    if (std::ssize(rows) != generator_.rows() || (!parts.empty() && std::ssize(parts) != generator_.cols()))
        throw std::logic_error{"SymbolDecoder: wrong number of rows or parts"};
    Decoded decoded{.possible = true};
    std::vector<Answer> answers;
    for (Group& group : groups_) {
        Answer answer = solve(group, rows, length, limits);
        decoded.possible = decoded.possible && answer.possible;
        decoded.residual = std::max(decoded.residual, answer.residual);
        decoded.size = std::max(decoded.size, answer.size);
        for (std::size_t member = 0; member < answer.there.size(); ++member) {
            const int symbol = group.members.symbols[member];
            const auto of_symbol = rows.subspan(at(symbol * rows_per_symbol_), at(rows_per_symbol_));
            if (answer.there[member])
                ++decoded.used;
            else if (std::find(of_symbol.begin(), of_symbol.end(), nullptr) == of_symbol.end())
                decoded.wrong.push_back(symbol);
        }
        answers.push_back(std::move(answer));
    }
    std::ranges::sort(decoded.wrong);
    if (!decoded.possible || parts.empty()) return decoded;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const SymbolBasis& used = basis(groups_[g], answers[g].there);
        std::vector<const Value*> from;
        for (const int row : used.rows) from.push_back(rows[at(row)]);
        for (std::size_t part = 0; part < groups_[g].members.parts.size(); ++part)
            if (Value* const to = parts[at(groups_[g].members.parts[part])]; to != nullptr)
                weighted_sum(row_of(used.parts, static_cast<Eigen::Index>(part)), from, std::span{to, length});
    }
    return decoded;
}

Decoded SymbolDecoder::decode(std::span<const float* const> rows, std::size_t length, double threshold,
                              std::span<float* const> parts, double least_size)
{
    return decode_all(rows, length, {threshold, least_size}, parts);
}

Decoded SymbolDecoder::decode(std::span<const double* const> rows, std::size_t length, double threshold,
                              std::span<double* const> parts, double least_size)
{
    return decode_all(rows, length, {threshold, least_size}, parts);
}

double SymbolDecoder::smallest_detectable(double threshold) const
{
    double least_seen = std::numeric_limits<double>::infinity();
    for (const Group& group : groups_) {
        const SymbolBasis whole = symbol_basis(generator_, rows_per_symbol_, group.members,
                                               std::vector<bool>(group.members.symbols.size(), true));
        for (int column = 0; column < std::ssize(whole.rows); ++column) {
            double seen = 0.0;  // largest relative effect of an error in a row that is read
            for (std::size_t other = 0; other < whole.others.size(); ++other)
                seen = std::max(seen, std::abs(whole.predicted(static_cast<int>(other), column)) / whole.scales[other]);
            least_seen = std::min(least_seen, seen);
        }
        for (const double scale : whole.scales) least_seen = std::min(least_seen, 1.0 / scale);
    }
    return threshold / least_seen;
}

}  // namespace ddl
