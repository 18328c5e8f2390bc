// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/suspects.hpp"

#include <algorithm>

namespace ddl {

namespace {

using Index = Eigen::Index;

// The direction in which an error in a row of the generator changes the differences.
Eigen::VectorXd direction(const SymbolBasis& basis, int row)
{
    Eigen::VectorXd change = Eigen::VectorXd::Zero(static_cast<Index>(basis.others.size()));
    const auto read = std::ranges::find(basis.rows, row);
    for (std::size_t other = 0; other < basis.others.size(); ++other) {
        double& entry = change[static_cast<Index>(other)];
        if (basis.others[other] == row) entry = 1.0 / basis.scales[other];
        if (read != basis.rows.end())
            entry = -basis.predicted(static_cast<int>(other), static_cast<int>(read - basis.rows.begin())) /
                    basis.scales[other];
    }
    return change;
}

// The sum of squares of the differences outside of the directions.
double without(const Eigen::MatrixXd& directions, const Matrix& products)
{
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr{directions};
    const Eigen::MatrixXd all = qr.householderQ();
    const Eigen::MatrixXd left = all.rightCols(directions.rows() - qr.rank());
    return (left.transpose() * products * left).trace();
}

}  // namespace

std::vector<Suspects> suspects(const SymbolBasis& basis, const Differences& differences,
                               const std::vector<int>& symbols, int rows_per_symbol, int count)
{
    constexpr std::size_t most = 100'000;
    const Index number = differences.products.rows();
    Eigen::MatrixXd directions(number, static_cast<Index>(symbols.size()) * rows_per_symbol);
    for (std::size_t i = 0; i < symbols.size(); ++i)
        for (int row = 0; row < rows_per_symbol; ++row)
            directions.col(static_cast<Index>(i) * rows_per_symbol + row) =
                direction(basis, symbols[i] * rows_per_symbol + row);

    std::vector<Suspects> all;
    Eigen::MatrixXd removed(number, static_cast<Index>(count) * rows_per_symbol);
    for_each_set(static_cast<int>(symbols.size()), count, [&](const std::vector<int>& set) {
        Suspects some;
        for (std::size_t i = 0; i < set.size(); ++i) {
            removed.middleCols(static_cast<Index>(i) * rows_per_symbol, rows_per_symbol) =
                directions.middleCols(static_cast<Index>(set[i]) * rows_per_symbol, rows_per_symbol);
            some.symbols.push_back(symbols[static_cast<std::size_t>(set[i])]);
        }
        some.differences = without(removed, differences.products);
        all.push_back(std::move(some));
        return all.size() <= most;
    });
    if (all.size() > most) return {};
    std::ranges::stable_sort(all, {}, &Suspects::differences);
    return all;
}

}  // namespace ddl
