// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/strength.hpp"

#include "base/random.hpp"
#include "ddl-workloads/codes/symbol_groups.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ddl {

namespace {

double sets(int of, int count)
{
    double number = 1.0;
    for (int i = 0; i < count; ++i) number = number * (of - i) / (i + 1);
    return number;
}

// The rows of these symbols of the group, by its parts.
Matrix rows_of(const Matrix& generator, int rows_per_symbol, const SymbolGroup& group, const std::vector<int>& set)
{
    std::vector<int> rows;
    for (const int member : set)
        for (int row = 0; row < rows_per_symbol; ++row)
            rows.push_back(group.symbols[static_cast<std::size_t>(member)] * rows_per_symbol + row);
    return generator(rows, group.parts);
}

}  // namespace

Strength strength(const Matrix& generator, int rows_per_symbol)
{
    int spare = std::numeric_limits<int>::max();
    for (const SymbolGroup& group : symbol_groups(generator, rows_per_symbol)) spare = std::min(spare, group.spare());
    const int symbols = static_cast<int>(generator.rows()) / rows_per_symbol;
    return {.symbols = symbols,
            .threshold = symbols - spare,
            .erasures = spare,
            .detected = spare,
            .random_errors = std::max(0, spare - 1),
            .any_errors = spare / 2};
}

double condition_number(const Matrix& matrix)
{
    const Eigen::VectorXd values = Eigen::JacobiSVD<Matrix>{matrix}.singularValues();
    const double least = values[values.size() - 1];
    return least > 0.0 ? values[0] / least : std::numeric_limits<double>::infinity();
}

WorstCondition worst_condition(const Matrix& generator, int rows_per_symbol, int most)
{
    WorstCondition worst;
    base::Random random = base::random_stream(1, 0);
    for (const SymbolGroup& group : symbol_groups(generator, rows_per_symbol)) {
        const int of = static_cast<int>(group.symbols.size());
        const int count = static_cast<int>(group.parts.size());
        const auto look_at = [&](const std::vector<int>& set) {
            worst.largest = std::max(worst.largest, condition_number(rows_of(generator, rows_per_symbol, group, set)));
            return true;
        };
        if (sets(of, count) <= most) {
            for_each_set(of, count, look_at);
            continue;
        }
        worst.all = false;
        std::vector<int> members(static_cast<std::size_t>(of));
        std::iota(members.begin(), members.end(), 0);
        for (int i = 0; i < most; ++i) {
            base::shuffle(random, std::span{members});
            look_at({members.begin(), members.begin() + count});
        }
    }
    return worst;
}

}  // namespace ddl
