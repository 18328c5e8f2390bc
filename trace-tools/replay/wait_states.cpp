#include "trace-tools/replay/wait_states.hpp"

#include <algorithm>

namespace replay {

const std::vector<WaitState> wait_states{
#define WAIT_STATE(name, cube_name, waits_for_another, title, description, part_of) \
    {Pattern::name, cube_name, waits_for_another, title, description, part_of},
#include "trace-tools/replay/wait_states.inc"
#undef WAIT_STATE
};

void WaitSums::add(const WaitKey& key, std::int64_t ns)
{
    WaitSum& sum = sums_[key];
    sum.ns += ns;
    ++sum.count;
}

void WaitSums::begin_step(std::uint32_t location, std::int64_t step)
{
    reached_[location] = step;
    if (sums_.size() < most_) return;
    report_finished_steps();
    most_ = std::max(most_, 2 * sums_.size());
}

void WaitSums::report_finished_steps()
{
    std::int64_t least = INT64_MAX;
    for (const std::int64_t step : reached_)
        if (step >= 0) least = std::min(least, step);
    WaitKey first_in_a_step;  // those outside of steps may still grow
    first_in_a_step.step = 0;
    auto sum = sums_.lower_bound(first_in_a_step);
    while (sum != sums_.end() && sum->first.step < least) {
        sink_(sum->first, sum->second);
        sum = sums_.erase(sum);
    }
}

void WaitSums::finish()
{
    for (const auto& [key, sum] : sums_) sink_(key, sum);
    sums_.clear();
}

}  // namespace replay
