// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_pace.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

// The time left for checkpoints accumulates to two of them at most: otherwise many would follow each other as soon as
// they take longer.
void CheckpointPace::add(std::int64_t step_ns, std::int64_t stall_ns)
{
    ++steps_;
    saved_ns_ += share_ * static_cast<double>(step_ns) - static_cast<double>(stall_ns);
    if (stall_ns > 0) earlier_stall_ns_ = std::exchange(last_stall_ns_, stall_ns);
    if (last_stall_ns_ > 0) saved_ns_ = std::min(saved_ns_, 2.0 * expected_ns());
}

// The shorter of the last two, since a stall that the disk lengthened says nothing about the next. Waiting until
// another one as long is within the share would save more than the next ones take, and the rest would be lost.
double CheckpointPace::expected_ns() const
{
    const bool one = earlier_stall_ns_ == 0;
    return static_cast<double>(one ? last_stall_ns_ : std::min(last_stall_ns_, earlier_stall_ns_));
}

bool CheckpointPace::is_due() const
{
    constexpr std::int64_t steps_before_first = 10;  // the first steps are longer than others
    if (share_ <= 0.0) return false;
    return last_stall_ns_ == 0 ? steps_ >= steps_before_first : saved_ns_ >= expected_ns();
}

}  // namespace ddl
