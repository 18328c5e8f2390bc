// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/planning/passes.hpp"

#include "ddl-workloads/codes/symbol_groups.hpp"

#include <algorithm>
#include <cmath>

namespace ddl {

namespace {

Pass pass_of(const Matrix& generator, int terms)
{
    Pass pass{.terms = terms, .parts = static_cast<int>(generator.cols())};
    for (const SymbolGroup& group : symbol_groups(generator, 1))
        pass.groups.push_back({static_cast<int>(group.symbols.size()), static_cast<int>(group.parts.size())});
    return pass;
}

// 1 - (1 - probability)^count, exact for small probabilities.
double any_of(double probability, double count)
{
    return -std::expm1(count * std::log1p(-probability));
}

// The probability of more than `most` of `of` independent events: the upper tail is summed, so small values are exact.
double more_than(int most, int of, double probability)
{
    double tail = 0.0;
    for (int count = most + 1; count <= of; ++count) {
        const double sets = std::exp(std::lgamma(of + 1.0) - std::lgamma(count + 1.0) - std::lgamma(of - count + 1.0));
        tail += sets * std::pow(probability, count) * std::pow(1.0 - probability, of - count);
    }
    return tail;
}

// The probability that more than `most` symbols of some group are late (or wrong), if a rank is with probability
// `of_rank`.
double in_any_group(const Pass& pass, int most, double of_rank)
{
    const double of_symbol = any_of(of_rank, pass.terms);
    double none = 1.0;
    double any = 0.0;
    for (const Pass::Group& group : pass.groups) {
        const double here = more_than(most, group.symbols, of_symbol);
        any += none * here;
        none *= 1.0 - here;
    }
    return any;
}

}  // namespace

int Pass::symbols() const
{
    int all = 0;
    for (const Group& group : groups) all += group.symbols;
    return all;
}

int Pass::spare() const
{
    int least = groups.front().symbols - groups.front().parts;
    for (const Group& group : groups) least = std::min(least, group.symbols - group.parts);
    return least;
}

Pass forward_pass(const LayerCode& code)
{
    return pass_of(code.rows, code.grid.columns);
}

Pass backward_pass(const LayerCode& code)
{
    return pass_of(code.columns, code.grid.rows);
}

std::optional<double> waiting(const Pass& pass, double late, int spare)
{
    const int may_be_late = pass.spare() - spare;
    if (may_be_late < 0) return std::nullopt;
    return in_any_group(pass, may_be_late, late);
}

double uncorrectable(const Pass& pass, double erred)
{
    return in_any_group(pass, std::max(0, pass.spare() - 1), erred);
}

}  // namespace ddl
