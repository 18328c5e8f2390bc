// Exposure: the share of each step during which each slot's treatment was assigned, and which steps may be used.
#pragma once

#include "analysis/input/slots.hpp"
#include "analysis/input/steps.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace analysis {

// A step's share of time in one slot.
struct Overlap {
    std::size_t slot = 0;
    double share = 0.0;  // 0 to 1
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

// Why a step takes no part in the estimate.
enum class LeftOut : std::uint8_t { no, warm_up, not_covered, guard, control_border, outlier, block_incomplete };
std::string text(LeftOut reason);  // empty for no

struct ExposureRules {
    std::int64_t warm_up_steps = 10;  // the first ones, whatever their numbers
    base::Nanoseconds guard{0};       // steps that begin so soon after a slot's begin are left out
};

struct Exposures {
    std::vector<StepOverlaps> ranks;  // [rank][step]
    StepOverlaps job;                 // [step], the mean over ranks
    base::LongColumn<int> block;      // [step], of the slot with the largest share; -1 if none
    std::vector<LeftOut> left_out;    // [step], the same for all ranks
};

// slots[r]: the job's slot table with times on the clock of rank r's node. The steps must outlive the exposures.
// A step that straddles a slot is kept (dropping it would select against long steps), with two exceptions: where slots
// do not cover it, and where it straddles a border of a slot of control.delay or control.sham, or did what they ask for
// outside of such a slot (phase control_settle), or did nothing of it inside one: they act on whole steps, so a share
// of time says nothing about them. A treatment that no step obeyed keeps its steps: it was not connected.
Exposures expose(const StepTable& steps, std::span<const std::vector<Slot>> slots, const Experiment& plan,
                 const ExposureRules& rules);

// [step]: its block, -1 for steps that are not used; with outliers as well, if wanted.
base::LongColumn<int> used_blocks(const Exposures& exposures, bool with_outliers = false);

}  // namespace analysis
