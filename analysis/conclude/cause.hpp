// SPDX-License-Identifier: Apache-2.0
// Finds where a factor's effect comes from: its main phase, and whether own work, waiting or transfer grew.
#pragma once

#include "analysis/conclude/decomposition.hpp"
#include "analysis/estimate/analyse.hpp"

#include <optional>
#include <string>

namespace analysis {

// The mechanism of a slowdown. `unknown`: there is no effect, or the archive does not show it.
enum class Mechanism { unknown, input, compute, transfer, checkpoint };
std::string text(Mechanism mechanism);  // "compute"; empty for unknown

struct Cause {
    std::string phase;  // phase or GPU measure with most of the effect; empty if none was found
    Mechanism mechanism = Mechanism::unknown;
    std::string sentence;    // one sentence for an operator
    std::string evidence{};  // cause in os.csv that explains a third of the slowdown or more; empty if none does
    // Parts of the slowdown; none if the run does not record the parts of its steps.
    std::optional<Decomposition> made_of{};
};

// The cause of an effect on the step. No cause is named where the interval includes zero, or where p is above 0.05
// after Holm's correction; nor is a phase, a rank or a part of the step whose own interval includes zero. With recorded
// buckets, the step's delay is split into slower compute on the last rank, slower transfer, and the rest. The rank is
// named by when its own buckets were ready, because a phase that waits is longer on the wrong rank. Without buckets,
// only the phase is named, and the rank whose own work grew. Own work inside of wait_exchange takes precedence: a rank
// that is late for the exchange, or works on during it, is no sign of a slower network. Where GPU work is recorded, the
// GPU measure that grew is named first, and `phase` is that measure (gpu_idle_launch).
Cause cause_of(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence);

}  // namespace analysis
