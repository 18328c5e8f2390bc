// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_pace.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

// Unused time accumulates up to that of two checkpoints: otherwise, once checkpoints take longer, many would be written
// in a row.
void CheckpointPace::add(std::int64_t step_ns, std::int64_t stall_ns)
{
    ++steps_;
    saved_ns_ += share_ * static_cast<double>(step_ns) - static_cast<double>(stall_ns);
    if (stall_ns > 0) earlier_stall_ns_ = std::exchange(last_stall_ns_, stall_ns);
    if (last_stall_ns_ > 0) saved_ns_ = std::min(saved_ns_, 2.0 * expected_ns());
}

// The shorter of the last two stalls, because a stall that the disk lengthened says nothing about the next. After a
// long stall, waiting for the time of another one would accumulate more than later checkpoints take, and add() drops
// the excess.
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
