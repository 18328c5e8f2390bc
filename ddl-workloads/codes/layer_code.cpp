// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/layer_code.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>

namespace ddl {

namespace {

// [part]: the rank whose symbol is `symbol` and whose part is this one, as the two members say; -1 if there is none.
std::vector<int> by_part(const LayerCode& code, int symbol, int parts, int Place::*symbol_of,
                         std::optional<int> Place::*part_of)
{
    std::vector<int> ranks(static_cast<std::size_t>(parts), -1);
    for (int rank = 0; rank < code.ranks(); ++rank) {
        const Place& place = code.places[static_cast<std::size_t>(rank)];
        if (place.*symbol_of == symbol && place.*part_of) ranks[static_cast<std::size_t>(*(place.*part_of))] = rank;
    }
    return ranks;
}

bool equal_rows(const Matrix& matrix, int one, int other)
{
    return matrix.row(one) == matrix.row(other);
}

// Row `wanted` of `matrix` as a weighted sum of other rows, each of which belongs to a rank. Empty if that is not
// possible.
std::vector<Term> as_sum(const Matrix& matrix, int wanted, const std::vector<int>& rows, const std::vector<int>& ranks)
{
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (equal_rows(matrix, wanted, rows[i])) return {{ranks[i], 1.0}};  // a copy
    if (rows.empty()) return {};
    const Matrix known = matrix(rows, Eigen::all).transpose();
    const Eigen::VectorXd target = matrix.row(wanted);
    const Eigen::VectorXd found = known.colPivHouseholderQr().solve(target);
    if (!((known * found - target).norm() <= 1e-9 * target.norm())) return {};
    std::vector<Term> terms;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (const double coefficient = found[static_cast<Eigen::Index>(i)]; std::abs(coefficient) > 1e-14)
            terms.push_back({ranks[i], coefficient});
    return terms;
}

// The rank's block as a sum of blocks of healthy ranks that differ from it only in the coefficients of one matrix.
std::vector<Term> along(const LayerCode& code, int rank, const std::vector<bool>& healthy, bool rows)
{
    const Place& own = code.places[static_cast<std::size_t>(rank)];
    std::vector<int> found;
    std::vector<int> ranks;
    for (int other = 0; other < code.ranks(); ++other) {
        const Place& place = code.places[static_cast<std::size_t>(other)];
        if (other == rank || !healthy[static_cast<std::size_t>(other)]) continue;
        if (rows ? !equal_rows(code.columns, own.column, place.column) : !equal_rows(code.rows, own.row, place.row))
            continue;
        found.push_back(rows ? place.row : place.column);
        ranks.push_back(other);
    }
    return rows ? as_sum(code.rows, own.row, found, ranks) : as_sum(code.columns, own.column, found, ranks);
}

}  // namespace

std::string Grid::text() const
{
    return base::format(rows) + "x" + base::format(columns);
}

Grid parse_grid(std::string_view text, int least)
{
    const std::size_t cross = text.find('x');
    if (cross == std::string_view::npos) base::fail_usage("'", text, "' is not a grid such as 5x4");
    const Grid grid{base::parse<int>(text.substr(0, cross)), base::parse<int>(text.substr(cross + 1))};
    for (const int side : {grid.rows, grid.columns})
        if (side < least || side > most_grid_side)
            base::fail_usage("'", text, "': rows and columns are ", least, " to ", most_grid_side);
    return grid;
}

std::vector<int> forward_ranks(const LayerCode& code, int symbol)
{
    return by_part(code, symbol, code.grid.columns, &Place::row, &Place::input);
}

std::vector<int> backward_ranks(const LayerCode& code, int symbol)
{
    return by_part(code, symbol, code.grid.rows, &Place::column, &Place::output);
}

std::vector<double> block_coefficients(const LayerCode& code, int rank)
{
    const Place& place = code.places[static_cast<std::size_t>(rank)];
    std::vector<double> coefficients;
    for (const double of_row : row_of(code.rows, place.row))
        for (const double of_column : row_of(code.columns, place.column)) coefficients.push_back(of_row * of_column);
    return coefficients;
}

std::vector<Term> regeneration(const LayerCode& code, int rank, const std::vector<bool>& healthy)
{
    std::vector<Term> by_column = along(code, rank, healthy, true);
    std::vector<Term> by_row = along(code, rank, healthy, false);
    if (by_column.empty()) return by_row;
    if (by_row.empty()) return by_column;
    return by_column.size() <= by_row.size() ? by_column : by_row;
}

}  // namespace ddl
