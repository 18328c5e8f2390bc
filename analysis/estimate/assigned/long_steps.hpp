// SPDX-License-Identifier: Apache-2.0
// Finds long steps, recurring (checkpoints) or accidents, and divides their time into an ordinary part and the excess.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

// The share of a stratum in the steps that begin under some treatments.
struct StratumShare {
    std::vector<std::size_t> treatments;
    double value = 0.0;
    double of = 0.0;  // number of these steps; 0: the share is known exactly

    // Binomial variance. If none or all of the steps belong to the stratum, computed as if one more, or one fewer, did.
    double variance() const
    {
        if (of <= 1.0) return 0.0;
        const double at = std::clamp(value, 1.0 / of, 1.0 - 1.0 / of);
        return at * (1.0 - at) / of;
    }
};

// Long steps that recur by the training's plan: a stratum of the steps. Membership does not depend on how long a step
// takes.
struct StepStratum {
    std::string name;         // "checkpoint", "every 25 steps"
    std::int64_t period = 0;  // in step numbers; 0: no period, the stratum is the steps with phase `name`
    std::int64_t first = 0;   // number of the stratum's first step, below the period
    double share = 0.0;       // share of all used steps
    std::size_t steps = 0;    // number of used steps
    // Shares by treatment if there is no period, else empty: see settle_shares().
    std::vector<StratumShare> assumed{};
    std::vector<StratumShare> counted{};
    bool spans_slots = false;  // longer than slots
    bool straddles = false;    // longer than a fiftieth of a slot
};

struct LongSteps {
    static constexpr std::int8_t ordinary = -2;
    static constexpr std::int8_t accident = -1;

    base::LongColumn<double> regular;    // [step]: ordinary part of the step's time, a share from 0 to 1
    base::LongColumn<std::int8_t> kind;  // [step]: ordinary, accident, or the index of its stratum
    std::vector<StepStratum> strata;
    double robust_deviation = 0.0;       // 1.4826 x MAD of the relative residuals
    bool rare = true;                    // at most 5 % of the steps under any treatment are accidents
    std::vector<std::size_t> accidents;  // [treatment]: number of accidents that began under it
    std::vector<std::size_t> used;       // [treatment]: number of used steps that began under it
    std::vector<bool> charged;           // [treatment]: its accidents count as its effect; see charge_accidents()
    std::vector<bool> surely;            // [treatment]: its accidents are charged beyond doubt

    std::size_t count() const;  // number of accidents
};

// A step is long if it exceeds its centre by more than 5 robust standard deviations of the slowest treatment. The
// threshold is the same number of ms for every noise: an accident of 20 ms is a smaller share of a step that is slow
// anyway, and would otherwise count as an effect of the noise that slows it. The centre is the median of steps wholly
// under the same treatment in the block and its two neighbours on each side; for a straddling step, the longest of its
// treatments' centres.
//
// Recurring long steps are strata: the steps with phase `checkpoint` where at most half of all steps have it, and steps
// whose numbers have a period (met four times or more, four of five of them long). Other long steps are accidents. The
// time of both beyond their centre is charged to the treatment in whose slot the step begins. A stop by control.pause
// is no accident: of a step that it hit, only what exceeds twice the stopped time counts. Why: docs/statistics.md, rule
// 2.
//
// step_ms: its first measure is the step. stopped_ms: the longest stopped time of any rank in a step; null: nothing was
// stopped. left: [slot], the share of a step by which noises of earlier slots make steps longer in this slot than in
// other slots of the same treatment; empty: none. Without `left`, more accidents in such slots would be long enough to
// be left out, and carry-over came out a tenth too low.
LongSteps find_long_steps(const StepTable& steps, const Measures& step_ms, const std::vector<std::vector<Slot>>& slots,
                          const Exposures& exposures, const Experiment& plan,
                          const std::function<double(std::size_t step)>& stopped_ms = {},
                          const std::vector<double>& left = {});

}  // namespace analysis
