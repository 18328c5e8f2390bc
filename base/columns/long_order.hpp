// SPDX-License-Identifier: Apache-2.0
// Order statistics and sorting of long columns, in memory that does not grow with them.
#pragma once

#include "base/columns/long_column.hpp"

#include <cmath>
#include <queue>

namespace base {

// The order statistic of `rank` (from 0) in [from, until): exact. None of the values may be NaN.
double nth_value(const LongColumn<double>& column, std::size_t from, std::size_t until, std::size_t rank);

// The median of the values in [from, until), at least one: the same bits as base::median().
double median(const LongColumn<double>& column, std::size_t from, std::size_t until);
double median(const LongColumn<double>& column);

// A sorted copy, in the order of std::sort(). Stretches that fit into memory are sorted and then merged.
template <class T, class Before>
LongColumn<T> sorted(const LongColumn<T>& column, Before before)
{
    constexpr std::size_t in_memory = (std::size_t{2} << 20U) / sizeof(T);
    std::vector<LongColumn<T>> stretches;
    for (std::size_t from = 0; from < column.size(); from += in_memory) {
        std::vector<T> stretch;
        for (std::size_t i = from; i < std::min(column.size(), from + in_memory); ++i) stretch.push_back(column[i]);
        std::ranges::sort(stretch, before);
        stretches.emplace_back(stretch);
    }
    if (stretches.size() == 1) return std::move(stretches.front());
    std::vector<std::size_t> at(stretches.size(), 0);
    const auto later = [&](std::size_t a, std::size_t b) {
        return before(std::as_const(stretches[b])[at[b]], std::as_const(stretches[a])[at[a]]);
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next{later};
    for (std::size_t s = 0; s < stretches.size(); ++s) next.push(s);
    LongColumn<T> all;
    while (!next.empty()) {
        const std::size_t s = next.top();
        next.pop();
        all.push_back(std::as_const(stretches[s])[at[s]]);
        if (++at[s] < stretches[s].size()) next.push(s);
    }
    return all;
}

}  // namespace base
