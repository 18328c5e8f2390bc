// SPDX-License-Identifier: Apache-2.0
// Options of ddl-train for guards, and for the reaction to their findings.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/guards/guard.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddl {

enum class Reaction {
    report,   // write a row in guards.csv and a line on stderr
    stop,     // end the training with exit code 3
    repair,   // copy from a rank that is sound; otherwise clip numbers
    rollback  // restore a copy of the state that was sound
};

struct GuardPlan {
    std::string text;  // as given, such as "range=2,norm"
    std::vector<base::PlugInText> guards;
    Reaction reaction = Reaction::report;
    std::int64_t copy_every = 10;     // in steps; for rollback
    std::int64_t replicas_every = 0;  // in steps; 0: ranks are not compared
    std::string golden;               // a run or a checkpoint, or empty

    // True if the ranks must agree on findings in each step before forward, because all of them must react together.
    bool acts_at_once() const { return reaction == Reaction::repair || reaction == Reaction::rollback; }
    bool has(const std::string& guard) const;
    bool compares_ranks() const;  // one of the guards does
};

std::string text(Reaction reaction);

// Parse "range=2,norm[factor=10x],checksum,replicas" and "report" or "rollback=20" into the plan. Throw UsageError.
void parse_guards(const std::string& guards, GuardPlan& plan);
void parse_reaction(const std::string& reaction, GuardPlan& plan);

// Parses the guard of a trial, such as "none" or "range=2+norm:rollback=10": the guards as for --guard, joined by +,
// then the reaction as for --on-guard (default: report). Throws UsageError, also for `stop`, which adds nothing to
// `report`.
GuardPlan parse_trial_guard(const std::string& text);

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_guard_options(base::Options& options, GuardPlan& plan);

}  // namespace ddl
