// SPDX-License-Identifier: Apache-2.0
// Exposure: the share of each step during which each slot's treatment was assigned, and which steps may be used.
#pragma once

#include "analysis/input/slots.hpp"
#include "analysis/input/steps.hpp"
#include "base/units.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <Eigen/Dense>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// A step's share of time in one slot.
struct Overlap {
    std::size_t slot = 0;
    double share = 0.0;     // 0 to 1
    bool as_quiet = false;  // this part of a step lies in a control's slot, but the control does not act on it
};

// Overlaps of a step with slots, in order of slots. The shares add up to one unless part of the step is in no slot.
using Overlaps = std::vector<Overlap>;

// The overlaps of each step, computed on request: those of all steps at once may not fit into memory.
class StepOverlaps {
 public:
    StepOverlaps() = default;
    StepOverlaps(std::vector<Overlaps> all);
    StepOverlaps(std::size_t steps, std::function<Overlaps(std::size_t)> of) : steps_{steps}, of_{std::move(of)} {}

    std::size_t size() const { return steps_; }
    Overlaps operator[](std::size_t step) const { return of_(step); }

 private:
    std::size_t steps_ = 0;
    std::function<Overlaps(std::size_t)> of_;
};

// slots: in order of time, disjoint. A step without length has no shares.
Overlaps exposure(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Slot> slots);

// Share of the step under a factor, alone or with others: the sum over slots in which the factor is on.
double exposure(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Slot> slots, const std::string& factor);

// True if no part of the step lies under another treatment.
bool wholly_under(const Overlaps& overlaps, const Experiment& plan, std::size_t treatment);

// Why a step, or a part of its time, is left out of the estimate. Each reason depends on when the step begins, on the
// schedule and on the training's length, never on how long the step takes; the exception is `outlier`, see
// long_steps.hpp.
enum class LeftOut : std::uint8_t { no, warm_up, not_covered, guard, control_border, outlier, block_incomplete };
std::string text(LeftOut reason);  // empty for LeftOut::no

struct ExposureRules {
    std::int64_t warm_up_steps = 10;  // number of first steps that are left out, whatever their own numbers
    base::Nanoseconds guard{0};       // steps that begin within this time after a slot's start are left out
};

constexpr int no_slot = -1;

struct Exposures {
    std::vector<StepOverlaps> ranks;        // [rank][step]
    StepOverlaps job;                       // [step], the mean over ranks
    base::LongColumn<int> slot;             // [step]: slot in which the step begins on the first rank; no_slot if none
    base::LongColumn<int> block;            // [step]: block of that slot; -1 if none
    base::LongColumn<std::int8_t> crosses;  // [step]: 1 if the step ends after that slot on any rank
    std::vector<LeftOut> left_out;          // [step], the same for all ranks
    int blocks = 0;                         // number of complete blocks: every treatment has a slot within the training
};

// slots[r]: the job's slot table in times of the clock of rank r's node. The steps must outlive the exposures.
//
// A step belongs to the slot in which it begins. A step that reaches into later slots is kept, however long it is:
// dropping it would select against long steps. A control acts on steps that begin in its slot and that contain phase
// control_settle. Steps that begin in a slot of control.delay or control.sham without that phase, or that have the
// phase elsewhere, are left out: a control requests nothing near the end of its slot. If no step has the phase, the
// control was not connected, and all steps that begin in its slots count as under it.
Exposures expose(const StepTable& steps, std::span<const std::vector<Slot>> slots, const Experiment& plan,
                 const ExposureRules& rules);

// The slots among which the estimator divides the first `share` of a step's time. A control acts on whole steps: a step
// that begins in its slot counts as wholly in it. The part of any other step in a control's slot counts as quiet,
// because no noise is on there. Time without a slot counts as in the slot in which the step begins.
StepOverlaps shared_among(const Exposures& exposures, const RankSteps& rank, const std::vector<Slot>& slots,
                          const Experiment& plan, std::function<double(std::size_t step)> share);

// The treatment to which a part of a step counts.
inline std::size_t treatment_of(const Overlap& overlap, std::span<const std::size_t> by_slot)
{
    return overlap.as_quiet ? 0 : by_slot[overlap.slot];
}

// [step]: the mean over ranks, which is the job's share.
StepOverlaps mean_over(std::vector<StepOverlaps> ranks);

// [step]: block of the step, -1 for steps that are not used.
base::LongColumn<int> used_blocks(const Exposures& exposures);

// The treatment of the slot in which a used step begins.
std::size_t treatment_of(const Exposures& exposures, const Experiment& plan, std::size_t step);

// True if the step lies wholly under the treatment of the slot in which it begins.
bool wholly_under_its_own(const Exposures& exposures, const Experiment& plan, std::size_t step);

// The steps of each block, in order.
class StepsByBlock {
 public:
    StepsByBlock(const base::LongColumn<int>& block, int blocks);  // must outlive it; block[i] < 0: in no block

    template <class Do>
    void each(int block, const Do& with_step) const
    {
        otf2::getting_on();  // reports progress while archives are read
        const auto [first, until] = spans_[static_cast<std::size_t>(block)];
        for (std::size_t i = first; i < until; ++i)
            if (block_[i] == block) with_step(i);
    }
    // Passes at most most_rows steps at once.
    template <class Do>
    void each_chunk(int block, const Do& with_steps) const
    {
        std::vector<Eigen::Index> steps;
        each(block, [&](std::size_t step) {
            if (steps.size() == most_rows) {
                with_steps(steps);
                steps.clear();
            }
            steps.push_back(static_cast<Eigen::Index>(step));
        });
        if (!steps.empty()) with_steps(steps);
    }
    static constexpr std::size_t most_rows = 16384;

 private:
    const base::LongColumn<int>& block_;
    std::vector<std::pair<std::size_t, std::size_t>> spans_;  // [block]: indices of its first step, and after its last
};

}  // namespace analysis
