// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/step_work/numbered_rows.hpp"

#include "base/columns/long_order.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace analysis {

base::LongColumn<NumberedRow> in_order_of_numbers(base::LongColumn<NumberedRow> rows)
{
    if (!std::is_sorted(rows.begin(), rows.end())) rows = base::sorted(rows, std::less<NumberedRow>{});
    return rows;
}

CommonSteps common_steps(const std::vector<base::LongColumn<NumberedRow>>& ranks)
{
    CommonSteps common;
    common.rows.resize(ranks.size());
    std::vector<std::size_t> next(ranks.size(), 0);
    const auto has_more = [&](std::size_t rank) { return next[rank] < ranks[rank].size(); };
    const auto number_of = [&](std::size_t rank) { return ranks[rank][next[rank]].number; };
    while (true) {
        std::optional<std::int64_t> number;
        for (std::size_t r = 0; r < ranks.size(); ++r)
            if (has_more(r)) number = std::min(number.value_or(number_of(r)), number_of(r));
        if (!number) return common;
        bool everywhere = true;
        for (std::size_t r = 0; r < ranks.size(); ++r)
            everywhere = everywhere && has_more(r) && number_of(r) == *number;
        if (everywhere) {
            common.numbers.push_back(*number);
            for (std::size_t r = 0; r < ranks.size(); ++r) common.rows[r].push_back(ranks[r][next[r]].row);
        } else {
            ++common.incomplete;
        }
        for (std::size_t r = 0; r < ranks.size(); ++r)
            while (has_more(r) && number_of(r) == *number) ++next[r];
    }
}

// Searches at growing distances from the previous result, then by bisection.
std::size_t PlaceOfStep::operator()(std::int64_t number)
{
    std::size_t from = last_;
    std::size_t until = last_;  // numbers before `from` are smaller, numbers from `until` on are not
    for (std::size_t by = 1; from > 0 && numbers_[from - 1] >= number; by *= 2) from -= std::min(from, by);
    for (std::size_t by = 1; until < numbers_.size() && numbers_[until] < number; by *= 2)
        until += std::min(numbers_.size() - until, by);
    const auto first = numbers_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = numbers_.begin() + static_cast<std::ptrdiff_t>(until);
    last_ = from + static_cast<std::size_t>(std::lower_bound(first, last, number) - first);
    return last_ < numbers_.size() && numbers_[last_] == number ? last_ : numbers_.size();
}

}  // namespace analysis
