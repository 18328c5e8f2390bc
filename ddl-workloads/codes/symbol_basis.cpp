// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/symbol_basis.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace ddl {

namespace {

using Index = Eigen::Index;

Index size_of(const std::vector<int>& numbers)
{
    return static_cast<Index>(numbers.size());
}

// The part to which the row is proportional; none if it combines several parts.
std::optional<int> only_part(const Matrix& generator, int row)
{
    const auto of_part = row_of(generator, row);
    const auto has = [](double coefficient) { return coefficient != 0.0; };
    if (std::ranges::count_if(of_part, has) != 1) return std::nullopt;
    return static_cast<int>(std::ranges::find_if(of_part, has) - of_part.begin());
}

// Removes from `rows` the rows that determine `parts` best, and returns them. Empty if `rows` does not determine
// `parts`.
std::vector<int> take_determining(const Matrix& generator, const std::vector<int>& parts, std::vector<int>& rows)
{
    if (rows.size() < parts.size()) return {};
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr{generator(rows, parts).transpose()};
    if (qr.rank() < size_of(parts)) return {};
    std::vector<int> taken;
    for (Index i = 0; i < size_of(parts); ++i)
        taken.push_back(rows[static_cast<std::size_t>(qr.colsPermutation().indices()[i])]);
    std::ranges::sort(taken);
    std::erase_if(rows, [&](int row) { return std::ranges::binary_search(taken, row); });
    return taken;
}

}  // namespace

SymbolBasis symbol_basis(const Matrix& generator, int rows_per_symbol, const SymbolGroup& members,
                         const std::vector<bool>& there)
{
    SymbolBasis basis;
    std::vector<int> known;  // parts that some row gives directly, in the order of these rows
    for (std::size_t member = 0; member < there.size(); ++member)
        for (int i = 0; there[member] && i < rows_per_symbol; ++i) {
            const int row = members.symbols[member] * rows_per_symbol + i;
            const std::optional<int> part = only_part(generator, row);
            const bool is_new = part && std::ranges::find(known, *part) == known.end();
            if (is_new) known.push_back(*part);
            (is_new ? basis.rows : basis.others).push_back(row);
        }
    std::vector<int> unknown;
    std::ranges::copy_if(members.parts, std::back_inserter(unknown),
                         [&](int part) { return std::ranges::find(known, part) == known.end(); });
    const std::vector<int> parities =
        unknown.empty() ? std::vector<int>{} : take_determining(generator, unknown, basis.others);
    if (parities.size() < unknown.size()) return basis;
    basis.complete = true;

    // known = of_known^-1 rows;  unknown = inverse (parities - of_parities known)
    const Index first = size_of(known);
    const Index more = size_of(unknown);
    Matrix parts = Matrix::Zero(first + more, first + more);  // known, unknown
    for (Index k = 0; k < first; ++k)
        parts(k, k) = 1.0 / generator(basis.rows[static_cast<std::size_t>(k)], known[static_cast<std::size_t>(k)]);
    if (more > 0) {
        const Matrix inverse = generator(parities, unknown).colPivHouseholderQr().solve(Matrix::Identity(more, more));
        parts.bottomRightCorner(more, more) = inverse;
        parts.bottomLeftCorner(more, first) = -inverse * generator(parities, known) * parts.topLeftCorner(first, first);
    }
    basis.rows.insert(basis.rows.end(), parities.begin(), parities.end());
    std::vector<int> order = known;
    order.insert(order.end(), unknown.begin(), unknown.end());
    basis.predicted = generator(basis.others, order) * parts;
    for (Index other = 0; other < basis.predicted.rows(); ++other)
        basis.scales.push_back(1.0 + basis.predicted.row(other).cwiseAbs().sum());
    basis.parts.resize(first + more, first + more);
    for (std::size_t from = 0; from < order.size(); ++from) {
        const auto to = std::ranges::find(members.parts, order[from]) - members.parts.begin();
        basis.parts.row(to) = parts.row(static_cast<Index>(from));
    }
    return basis;
}

}  // namespace ddl
