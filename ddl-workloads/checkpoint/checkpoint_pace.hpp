// SPDX-License-Identifier: Apache-2.0
// --checkpoint-every auto: writes checkpoints as often as they cost at most a given share of the training time.
#pragma once

#include <cstdint>

namespace ddl {

// A budget of time for checkpoints: every step adds its share, and every checkpoint subtracts its stall. So after a
// stall that was longer than expected, the next checkpoint comes later. Deterministic: depends only on the arguments.
class CheckpointPace {
 public:
    // `share` of the training time, from 0 to 1.
    explicit CheckpointPace(double share) : share_{share} {}

    // After each step: its length, and the part of it in which a checkpoint stalled the training.
    void add(std::int64_t step_ns, std::int64_t stall_ns);

    // True if a checkpoint that takes as long as the shorter of the last two is within the share. The first is due
    // after a few steps, since its length is unknown.
    bool is_due() const;

 private:
    double expected_ns() const;

    double share_;
    double saved_ns_ = 0.0;  // time left in the budget; negative if checkpoints took more
    std::int64_t steps_ = 0;
    std::int64_t last_stall_ns_ = 0;     // 0: none was written yet
    std::int64_t earlier_stall_ns_ = 0;  // stall of the checkpoint before the last; 0: there was none
};

}  // namespace ddl
