#include "analysis/input/step_work/numbered_rows.hpp"

#include "base/columns/long_order.hpp"

#include <algorithm>
#include <functional>

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
    for (const NumberedRow of_first : ranks.front()) {
        const std::int64_t number = of_first.number;
        if (!common.numbers.empty() && common.numbers.back() == number) continue;
        bool everywhere = true;
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            const base::LongColumn<NumberedRow>& rank = ranks[r];
            while (next[r] < rank.size() && rank[next[r]].number < number) ++next[r];
            everywhere = everywhere && next[r] < rank.size() && rank[next[r]].number == number;
        }
        if (!everywhere) continue;
        common.numbers.push_back(number);
        for (std::size_t r = 0; r < ranks.size(); ++r) common.rows[r].push_back(ranks[r][next[r]].row);
    }
    return common;
}

// Looks ever farther from where the last one was, then between.
std::size_t PlaceOfStep::operator()(std::int64_t number)
{
    std::size_t from = last_;
    std::size_t until = last_;  // those before `from` are less, those from `until` on are not
    for (std::size_t by = 1; from > 0 && numbers_[from - 1] >= number; by *= 2) from -= std::min(from, by);
    for (std::size_t by = 1; until < numbers_.size() && numbers_[until] < number; by *= 2)
        until += std::min(numbers_.size() - until, by);
    const auto first = numbers_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = numbers_.begin() + static_cast<std::ptrdiff_t>(until);
    last_ = from + static_cast<std::size_t>(std::lower_bound(first, last, number) - first);
    return last_ < numbers_.size() && numbers_[last_] == number ? last_ : numbers_.size();
}

}  // namespace analysis
