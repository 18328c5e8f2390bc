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
    bool as_quiet = false;  // a part of a step in a control's slot that the control does not act on
};

// In order of slots; the shares of a step add up to one unless slots leave a part of it uncovered.
using Overlaps = std::vector<Overlap>;

// Those of each step, made when they are asked for: of all steps at once they may be more than memory holds.
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

// Slots in order of time and disjoint. A step without length has no shares.
Overlaps exposure(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Slot> slots);

// Share of the step under a factor, whatever else was on: the sum over slots that assigned it.
double exposure(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Slot> slots, const std::string& factor);

// Does no part of the step lie under another treatment?
bool wholly_under(const Overlaps& overlaps, const Experiment& plan, std::size_t treatment);

// Why a step, or a part of its time, takes no part in the estimate. Each reason is decided by when the step begins, by
// the schedule and by the training's length, never by how long the step takes; but `outlier`, for which see
// long_steps.hpp.
enum class LeftOut : std::uint8_t { no, warm_up, not_covered, guard, control_border, outlier, block_incomplete };
std::string text(LeftOut reason);  // empty for no

struct ExposureRules {
    std::int64_t warm_up_steps = 10;  // the first ones, whatever their numbers
    base::Nanoseconds guard{0};       // steps that begin so soon after a slot's begin are left out
};

constexpr int no_slot = -1;

struct Exposures {
    std::vector<StepOverlaps> ranks;        // [rank][step]
    StepOverlaps job;                       // [step], the mean over ranks
    base::LongColumn<int> slot;             // [step], in which it begins on the first rank; no_slot if none
    base::LongColumn<int> block;            // [step], of that slot; -1 if none
    base::LongColumn<std::int8_t> crosses;  // [step]: does it end after that slot on any rank?
    std::vector<LeftOut> left_out;          // [step], the same for all ranks
    int blocks = 0;                         // whole ones: those in which every treatment has a slot within the training
};

// slots[r]: the job's slot table with times on the clock of rank r's node. The steps must outlive the exposures.
//
// A step belongs to the slot in which it begins. A step that reaches into the next slots is kept, however long it is:
// dropping it would select against long steps. Steps that begin in a slot of control.delay or control.sham and did not
// what these ask for (phase control_settle), or did it elsewhere, are left out: near the end of its slot a control asks
// for nothing. If no step obeyed a control, all steps that begin in its slots count as under it: it was not connected.
Exposures expose(const StepTable& steps, std::span<const std::vector<Slot>> slots, const Experiment& plan,
                 const ExposureRules& rules);

// The slots among which a step's time is shared by the estimator, if only the first `share` of its time is. A control
// acts on whole steps: a step that begins in its slot counts as wholly in it, and what another step does in a control's
// slot counts as done in quiet, for no noise is on there. Time that no slot covers counts as in the slot in which the
// step begins.
StepOverlaps shared_among(const Exposures& exposures, const RankSteps& rank, const std::vector<Slot>& slots,
                          const Experiment& plan, std::function<double(std::size_t step)> share);

// The treatment that a part of a step counts as.
inline std::size_t treatment_of(const Overlap& overlap, std::span<const std::size_t> by_slot)
{
    return overlap.as_quiet ? 0 : by_slot[overlap.slot];
}

// [step]: the mean over ranks, which a job's step is.
StepOverlaps mean_over(std::vector<StepOverlaps> ranks);

// [step]: its block, -1 for steps that are not used.
base::LongColumn<int> used_blocks(const Exposures& exposures);

// The treatment of the slot in which a used step begins.
std::size_t treatment_of(const Exposures& exposures, const Experiment& plan, std::size_t step);

// Was the step wholly under the treatment of the slot in which it begins?
bool wholly_under_its_own(const Exposures& exposures, const Experiment& plan, std::size_t step);

// The steps of each block, in order.
class StepsByBlock {
 public:
    StepsByBlock(const base::LongColumn<int>& block, int blocks);  // which must outlive it; block[i] < 0: in none

    template <class Do>
    void each(int block, const Do& with_step) const
    {
        otf2::getting_on();  // where this is a part of reading
        const auto [first, until] = spans_[static_cast<std::size_t>(block)];
        for (std::size_t i = first; i < until; ++i)
            if (block_[i] == block) with_step(i);
    }
    // At most most_rows at once.
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
    std::vector<std::pair<std::size_t, std::size_t>> spans_;  // from the first step of a block until its last
};

}  // namespace analysis
