// SPDX-License-Identifier: Apache-2.0
// Long steps: those that recur, such as checkpoints, and accidents. How much of each step's time is like other steps'.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

// How many of the steps begun under some treatments belong to a stratum.
struct StratumShare {
    std::vector<std::size_t> treatments;
    double value = 0.0;
    double of = 0.0;  // steps; 0: it is exact

    // Binomial variance; with none or all long as if there were one more, or one less.
    double variance() const
    {
        if (of <= 1.0) return 0.0;
        const double at = std::clamp(value, 1.0 / of, 1.0 - 1.0 / of);
        return at * (1.0 - at) / of;
    }
};

// Long steps that recur by the training's own plan: a stratum of the steps. Which steps belong to it does not depend on
// how long they take.
struct StepStratum {
    std::string name;         // "checkpoint", "every 25 steps"
    std::int64_t period = 0;  // in step numbers; 0: none, those with the phase `name`
    std::int64_t first = 0;   // number of its first step, below the period
    double share = 0.0;       // of all used steps
    std::size_t steps = 0;    // used ones
    // Shares by treatment where there is no period, else empty: see settle_shares().
    std::vector<StratumShare> assumed{};
    std::vector<StratumShare> counted{};
    bool spans_slots = false;  // its steps are longer than slots
    bool straddles = false;    // they are longer than a fiftieth of a slot
};

struct LongSteps {
    static constexpr std::int8_t ordinary = -2;
    static constexpr std::int8_t accident = -1;

    base::LongColumn<double> regular;    // [step]: share of its time that is like that of ordinary steps, 0 to 1
    base::LongColumn<std::int8_t> kind;  // [step]: ordinary, accident, or its stratum's index
    std::vector<StepStratum> strata;
    double robust_deviation = 0.0;       // 1.4826 x MAD of the relative residuals
    bool rare = true;                    // at most 5 % of the steps under any treatment are accidents
    std::vector<std::size_t> accidents;  // [treatment]: begun under it
    std::vector<std::size_t> used;       // [treatment]: used steps begun under it
    std::vector<bool> charged;           // [treatment]: its accidents count as its effect; see charge_accidents()
    std::vector<bool> surely;            // [treatment]: charged beyond doubt

    std::size_t count() const;  // of accidents
};

// A step is long if it exceeds its centre by more than 5 robust standard deviations of what is slowest: as many ms for
// every noise, for an accident of 20 ms is a smaller share of a step that is slow anyway, and would be counted with the
// noise that slows it. The centre is the median of steps wholly under the same treatment in the block and its two
// neighbours on each side; for a straddling step the longest of its treatments'.
//
// Long steps that recur are strata: the steps with the phase `checkpoint` where at most half of all have it, and steps
// whose numbers have a period (four times or more, four of five long). Other long steps are accidents. The time of both
// beyond their centre is charged to the treatment in whose slot the step begins. What control.pause stopped is no
// accident: of a step that it hit only what is beyond twice the stopped time counts. Why: docs/statistics.md, rule 2.
//
// step_ms: its first is the step. stopped_ms: of a step, the longest of any rank; null: nothing was stopped. left:
// [slot], by which share of a step the noises of the slots before make steps longer there than in the other slots of
// the same treatment; empty: by none. Without it more of the accidents there are long enough to be left out, and what
// is left of a noise came out a tenth too low.
LongSteps find_long_steps(const StepTable& steps, const Measures& step_ms, const std::vector<std::vector<Slot>>& slots,
                          const Exposures& exposures, const Experiment& plan,
                          const std::function<double(std::size_t step)>& stopped_ms = {},
                          const std::vector<double>& left = {});

}  // namespace analysis
