// SPDX-License-Identifier: Apache-2.0
// Which guards a training has, and what they do about what they find.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/guards/guard.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddl {

enum class Reaction {
    report,   // a row in guards.csv, a line on stderr
    stop,     // the training ends, with exit code 3
    repair,   // from a rank that is sound; else numbers are clipped
    rollback  // to a copy of the state that was sound
};

struct GuardPlan {
    std::string text;  // "range=2,norm"
    std::vector<base::PlugInText> guards;
    Reaction reaction = Reaction::report;
    std::int64_t copy_every = 10;     // steps; of rollback
    std::int64_t replicas_every = 0;  // steps; 0: ranks are not compared
    std::string golden;               // a run or checkpoint, or empty

    // Ranks agree in each step, before forward, on what was found: what is done about it must be done by all.
    bool acts_at_once() const { return reaction == Reaction::repair || reaction == Reaction::rollback; }
    bool has(const std::string& guard) const;
};

std::string text(Reaction reaction);

// "range=2,norm[factor=10x],checksum,replicas", "report", "rollback=20" into the plan. Throw UsageError.
void parse_guards(const std::string& guards, GuardPlan& plan);
void parse_reaction(const std::string& reaction, GuardPlan& plan);

class GuardOptions {
 public:
    // Adds them; both must outlive it.
    GuardOptions(base::Options& options, GuardPlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    const base::Options& options_;
    GuardPlan& plan_;
    std::string guards_;
    std::string reaction_ = "report";
};

}  // namespace ddl
