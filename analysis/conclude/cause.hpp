// SPDX-License-Identifier: Apache-2.0
// Where a factor's effect comes from: the phase that carries it, and own slowdown, waiting or transfer behind it.
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
    std::string phase;  // or measure of GPUs, that carries most of the effect; empty if none was found
    Mechanism mechanism = Mechanism::unknown;
    std::string sentence;    // for an operator
    std::string evidence{};  // the cause of os.csv that is a third of the slowdown or more; empty if none is
    std::optional<Decomposition> made_of{};  // the slowdown; none where the run does not say what steps were made of
};

// The cause of an effect on the step. None is named where the interval holds zero, or where p is above 0.05 after
// Holm's correction; nor is a phase, a rank or a part of the step whose own interval holds zero. With recorded buckets
// the step's delay is split into compute that got slower on the last rank, transfer that got slower, and the rest; the
// rank is named by when its own buckets were ready (a phase that waits shows up on the wrong rank). Without them the
// phase alone is named, and the rank whose own work grew. Own work inside of wait_exchange takes precedence: a rank
// that is late for the exchange, or continues late, is not a slower network. Where GPUs are known, what they do longer
// is named first, and `phase` is its measure (gpu_idle_launch).
Cause cause_of(const DesignedRun& run, const Analysis& analysis, const Effect& step, double confidence);

}  // namespace analysis
