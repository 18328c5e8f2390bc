// SPDX-License-Identifier: Apache-2.0
// The guards of one trial. Each trial gets new guards, which examine the state before bits are flipped.
#pragma once

#include "ddl-workloads/guards/guards.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

// Parses "none", or a text such as "range=2+norm:rollback=10": the guards as for --guard, joined by +, then the
// reaction as for --on-guard (default: report). Throws UsageError, also for `stop`, which adds nothing to `report`.
GuardPlan parse_trial_guard(const std::string& text);

class TrialGuards {
 public:
    // Collective. Call before bits are flipped, after `steps_done` steps.
    TrialGuards(const GuardPlan& plan, const Guarded& guarded, std::int64_t steps_done);

    // Collective. If the guards rolled back, returns the number of steps done in the restored state; the input must
    // follow.
    std::optional<std::int64_t> before_forward(std::int64_t steps_done);
    void before_update(std::int64_t steps_done);
    void after_update();

    // Steps from the alteration until a guard of this rank found something; none if none did.
    std::optional<std::int64_t> caught() const { return caught_; }

 private:
    void note(std::int64_t steps_done);

    Guards guards_;
    ExchangeThread& exchanges_;
    bool on_;
    bool compares_;
    std::int64_t begin_;
    std::optional<std::int64_t> caught_;
};

}  // namespace ddl
