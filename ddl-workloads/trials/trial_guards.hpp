// SPDX-License-Identifier: Apache-2.0
// The guards of one trial: a new set for each, which knows the state from before bits flip.
#pragma once

#include "ddl-workloads/guards/guards.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

// "none", or "range=2+norm:rollback=10": guards as of --guard with + between, then how as of --on-guard (report).
// Throws UsageError, also for stop: it says no more than report.
GuardPlan parse_trial_guard(const std::string& text);

class TrialGuards {
 public:
    // Collective, before bits flip, as many steps having been done.
    TrialGuards(const GuardPlan& plan, const Guarded& guarded, std::int64_t steps_done);

    // Collective. Where the training has gone back to, if it has; the input must follow.
    std::optional<std::int64_t> before_forward(std::int64_t steps_done);
    void before_update(std::int64_t steps_done);
    void after_update();

    // Looks that came before one found something; none if none did. Of this rank.
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
