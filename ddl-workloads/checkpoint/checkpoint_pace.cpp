// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_pace.hpp"

#include <algorithm>

namespace ddl {

// Not more than two checkpoints' time is saved: else many would follow each other once they take longer.
void CheckpointPace::add(std::int64_t step_ns, std::int64_t stall_ns)
{
    ++steps_;
    saved_ns_ += share_ * static_cast<double>(step_ns) - static_cast<double>(stall_ns);
    if (stall_ns > 0) last_stall_ns_ = stall_ns;
    if (last_stall_ns_ > 0) saved_ns_ = std::min(saved_ns_, 2.0 * static_cast<double>(last_stall_ns_));
}

bool CheckpointPace::is_due() const
{
    constexpr std::int64_t steps_before_first = 10;  // the first steps are longer than others
    if (share_ <= 0.0) return false;
    return last_stall_ns_ == 0 ? steps_ >= steps_before_first : saved_ns_ >= static_cast<double>(last_stall_ns_);
}

}  // namespace ddl
