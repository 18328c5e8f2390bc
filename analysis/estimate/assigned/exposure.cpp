// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/assigned/exposure.hpp"

#include "base/contract/phases.hpp"
#include "base/contract/roles.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace analysis {

namespace {

constexpr double share_rounding = 1e-6;  // shares are quotients of integers below 2^53

}  // namespace

Overlaps exposure(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Slot> slots)
{
    Overlaps overlaps;
    if (end_ns <= begin_ns) return overlaps;
    const auto length = static_cast<double>(end_ns - begin_ns);
    auto slot = std::partition_point(slots.begin(), slots.end(), [&](const Slot& c) { return c.end_ns <= begin_ns; });
    for (; slot != slots.end() && slot->begin_ns < end_ns; ++slot) {
        const std::int64_t covered = std::min(end_ns, slot->end_ns) - std::max(begin_ns, slot->begin_ns);
        if (covered > 0)
            overlaps.push_back({static_cast<std::size_t>(slot - slots.begin()), static_cast<double>(covered) / length});
    }
    return overlaps;
}

double exposure(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Slot> slots, const std::string& factor)
{
    double share = 0.0;
    for (const Overlap& overlap : exposure(begin_ns, end_ns, slots))
        for (const Assigned& on : slots[overlap.slot].on)
            if (on.factor == factor) share += overlap.share;
    return share;
}

bool wholly_under(const Overlaps& overlaps, const Experiment& plan, std::size_t treatment)
{
    return std::all_of(overlaps.begin(), overlaps.end(),
                       [&](const Overlap& o) { return plan.treatment_of[o.slot] == treatment; });
}

std::string text(LeftOut reason)
{
    switch (reason) {
        case LeftOut::warm_up:
            return "warm-up";
        case LeftOut::not_covered:
            return "not covered by noise";
        case LeftOut::guard:
            return "guard";
        case LeftOut::control_border:
            return "at a border of a control's slot";
        case LeftOut::outlier:
            return "outlier";
        case LeftOut::block_incomplete:
            return "block incomplete";
        case LeftOut::no:
            break;
    }
    return "";
}

namespace {

bool acts_on_whole_steps(const Treatment& treatment)
{
    return std::any_of(treatment.on.begin(), treatment.on.end(),
                       [](const Assigned& on) { return base::acts_on_whole_steps(on.role); });
}

int slot_at(std::int64_t at_ns, std::span<const Slot> slots)
{
    const auto slot =
        std::partition_point(slots.begin(), slots.end(), [&](const Slot& c) { return c.end_ns <= at_ns; });
    return slot == slots.end() || slot->begin_ns > at_ns ? no_slot : static_cast<int>(slot - slots.begin());
}

// [step]: true if any rank has phase control_settle in it.
std::vector<bool> touched_by_a_control(const StepTable& steps)
{
    std::vector<bool> touched(steps.numbers.size(), false);
    const auto phase =
        std::find(steps.phases.begin(), steps.phases.end(), base::text(base::TrainingPhase::control_settle));
    if (phase == steps.phases.end()) return touched;
    const auto column = static_cast<Eigen::Index>(phase - steps.phases.begin());
    for (const RankSteps& rank : steps.ranks)
        for (std::size_t i = 0; i < touched.size(); ++i)
            if (rank.phase_ms(static_cast<Eigen::Index>(i), column) > 0.0) touched[i] = true;
    return touched;
}

// The slot to which each step belongs, and why a step is left out.
class Begins {
 public:
    Begins(const StepTable& steps, std::span<const std::vector<Slot>> slots, const Experiment& plan)
        : steps_{steps}, slots_{slots}, plan_{plan}, touched_{touched_by_a_control(steps)}
    {
        for (const Treatment& treatment : plan.treatments) controls_.push_back(acts_on_whole_steps(treatment));
        obeyed_.assign(controls_.size(), false);
        for (std::size_t i = 0; i < touched_.size(); ++i)
            if (const int control = touched_[i] ? in_a_control(i) : no_slot; control != no_slot)
                obeyed_[treatment(control)] = true;
    }

    int slot(std::size_t step) const
    {
        const int control = touched_[step] ? in_a_control(step) : no_slot;
        return control == no_slot ? slot(0, step) : control;
    }

    LeftOut left_out(std::size_t step, const ExposureRules& rules) const
    {
        if (static_cast<std::int64_t>(step) < rules.warm_up_steps) return LeftOut::warm_up;
        for (std::size_t r = 0; r < steps_.ranks.size(); ++r)
            if (slot(r, step) == no_slot) return LeftOut::not_covered;
        for (std::size_t r = 0; r < steps_.ranks.size(); ++r) {
            const Slot& begun_in = slots_[r][static_cast<std::size_t>(slot(r, step))];
            if (steps_.ranks[r].begin_ns[step] - begun_in.begin_ns < rules.guard.count()) return LeftOut::guard;
        }
        const int control = in_a_control(step);
        const bool belongs = touched_[step] ? control != no_slot : control == no_slot || !obeyed_[treatment(control)];
        return belongs ? LeftOut::no : LeftOut::control_border;
    }

 private:
    int slot(std::size_t rank, std::size_t step) const
    {
        return slot_at(steps_.ranks[rank].begin_ns[step], slots_[rank]);
    }
    std::size_t treatment(int slot) const { return plan_.treatment_of[static_cast<std::size_t>(slot)]; }

    // The slot of control.delay or control.sham in which any rank begins the step; no_slot if none.
    int in_a_control(std::size_t step) const
    {
        for (std::size_t r = 0; r < steps_.ranks.size(); ++r)
            if (const int begun_in = slot(r, step); begun_in != no_slot && controls_[treatment(begun_in)])
                return begun_in;
        return no_slot;
    }

    const StepTable& steps_;
    std::span<const std::vector<Slot>> slots_;
    const Experiment& plan_;
    std::vector<bool> touched_;
    std::vector<bool> controls_;  // [treatment]
    std::vector<bool> obeyed_;    // [treatment]: acted on: some step in its slots has phase control_settle
};

// [block]: true if every treatment has a slot of which at least half is within the training after its warm-up.
std::vector<bool> whole_blocks(const RankSteps& rank, std::span<const Slot> slots, const Experiment& plan,
                               std::int64_t warm_up_steps)
{
    const auto warm = static_cast<std::size_t>(
        std::clamp<std::int64_t>(warm_up_steps, 0, static_cast<std::int64_t>(rank.begin_ns.size()) - 1));
    const TimeSpan training{rank.begin_ns[warm], rank.end_ns.back()};
    std::vector<std::vector<bool>> has(static_cast<std::size_t>(plan.blocks),
                                       std::vector<bool>(plan.treatments.size(), false));
    for (std::size_t s = 0; s < slots.size(); ++s)
        if (2 * overlap_ns(slots[s].begin_ns, slots[s].end_ns, {&training, 1}) >= slots[s].end_ns - slots[s].begin_ns)
            has[static_cast<std::size_t>(plan.block_of[s])][plan.treatment_of[s]] = true;
    std::vector<bool> whole;
    for (const std::vector<bool>& treatments : has)
        whole.push_back(std::find(treatments.begin(), treatments.end(), false) == treatments.end());
    return whole;
}

Overlaps mean_over_ranks(const std::vector<StepOverlaps>& ranks, std::size_t step)
{
    const auto place = [](const Overlap& overlap) { return std::pair{overlap.slot, overlap.as_quiet}; };
    Overlaps mean;
    for (const StepOverlaps& rank : ranks)
        for (const Overlap& overlap : rank[step]) {
            const auto same = std::ranges::lower_bound(mean, place(overlap), {}, place);
            if (same != mean.end() && place(*same) == place(overlap))
                same->share += overlap.share;
            else
                mean.insert(same, overlap);
        }
    for (Overlap& overlap : mean) overlap.share /= static_cast<double>(ranks.size());
    return mean;
}

StepOverlaps overlaps_of(const RankSteps& rank, const std::vector<Slot>& slots)
{
    const auto kept = std::make_shared<const std::vector<Slot>>(slots);
    return {rank.begin_ns.size(), [kept, &begin_ns = rank.begin_ns, &end_ns = rank.end_ns](std::size_t step) {
                return exposure(begin_ns[step], end_ns[step], *kept);
            }};
}

bool ends_after(int slot, const StepTable& steps, std::span<const std::vector<Slot>> slots, std::size_t step)
{
    for (std::size_t r = 0; slot != no_slot && r < steps.ranks.size(); ++r)
        if (steps.ranks[r].end_ns[step] > slots[r][static_cast<std::size_t>(slot)].end_ns) return true;
    return false;
}

}  // namespace

StepOverlaps::StepOverlaps(std::vector<Overlaps> all)
    : steps_{all.size()}, of_{[all = std::move(all)](std::size_t step) { return all[step]; }}
{
}

Exposures expose(const StepTable& steps, std::span<const std::vector<Slot>> slots, const Experiment& plan,
                 const ExposureRules& rules)
{
    Exposures exposures;
    for (std::size_t r = 0; r < steps.ranks.size(); ++r)
        exposures.ranks.push_back(overlaps_of(steps.ranks[r], slots[r]));
    exposures.job = mean_over(exposures.ranks);
    const Begins begins{steps, slots, plan};
    const std::vector<bool> whole = whole_blocks(steps.ranks.front(), slots.front(), plan, rules.warm_up_steps);
    exposures.blocks = static_cast<int>(std::count(whole.begin(), whole.end(), true));
    for (std::size_t i = 0; i < steps.numbers.size(); ++i) {
        const int slot = begins.slot(i);
        const int block = slot == no_slot ? -1 : plan.block_of[static_cast<std::size_t>(slot)];
        LeftOut reason = begins.left_out(i, rules);
        if (reason == LeftOut::no && !whole[static_cast<std::size_t>(block)]) reason = LeftOut::block_incomplete;
        exposures.slot.push_back(slot);
        exposures.block.push_back(block);
        exposures.crosses.push_back(ends_after(slot, steps, slots, i) ? 1 : 0);
        exposures.left_out.push_back(reason);
    }
    return exposures;
}

StepOverlaps shared_among(const Exposures& exposures, const RankSteps& rank, const std::vector<Slot>& slots,
                          const Experiment& plan, std::function<double(std::size_t step)> share)
{
    struct Kept {
        std::vector<Slot> slots;
        std::vector<bool> is_control;
        std::function<double(std::size_t)> share;
    };
    std::vector<bool> is_control;
    for (const std::size_t treatment : plan.treatment_of)
        is_control.push_back(acts_on_whole_steps(plan.treatments[treatment]));
    const auto kept = std::make_shared<const Kept>(Kept{slots, std::move(is_control), std::move(share)});
    return {rank.begin_ns.size(), [kept, &rank, &begun_in = exposures.slot](std::size_t step) -> Overlaps {
                if (begun_in[step] == no_slot) return {};
                const auto own = static_cast<std::size_t>(begun_in[step]);
                if (kept->is_control[own]) return {{own, 1.0}};
                const std::int64_t begin_ns = rank.begin_ns[step];
                const auto length = static_cast<double>(rank.end_ns[step] - begin_ns);
                const std::int64_t end_ns = begin_ns + std::llround(kept->share(step) * length);
                Overlaps shared = exposure(begin_ns, end_ns, kept->slots);
                double left = 1.0;
                for (Overlap& overlap : shared) {
                    overlap.as_quiet = kept->is_control[overlap.slot];
                    left -= overlap.share;
                }
                if (left > share_rounding) shared.push_back({own, left});
                return shared;
            }};
}

StepOverlaps mean_over(std::vector<StepOverlaps> ranks)
{
    if (ranks.size() == 1) return std::move(ranks.front());
    const std::size_t steps = ranks.front().size();
    return {steps, [ranks = std::move(ranks)](std::size_t step) { return mean_over_ranks(ranks, step); }};
}

base::LongColumn<int> used_blocks(const Exposures& exposures)
{
    base::LongColumn<int> block;
    for (std::size_t i = 0; i < exposures.block.size(); ++i)
        block.push_back(exposures.left_out[i] == LeftOut::no ? exposures.block[i] : -1);
    return block;
}

std::size_t treatment_of(const Exposures& exposures, const Experiment& plan, std::size_t step)
{
    return plan.treatment_of[static_cast<std::size_t>(exposures.slot[step])];
}

bool wholly_under_its_own(const Exposures& exposures, const Experiment& plan, std::size_t step)
{
    const Overlaps overlaps = exposures.job[step];
    double covered = 0.0;
    for (const Overlap& overlap : overlaps) covered += overlap.share;
    return covered >= 1.0 - share_rounding && wholly_under(overlaps, plan, treatment_of(exposures, plan, step));
}

StepsByBlock::StepsByBlock(const base::LongColumn<int>& block, int blocks)
    : block_{block}, spans_(static_cast<std::size_t>(blocks), {block.size(), 0})
{
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        auto& [first, until] = spans_[static_cast<std::size_t>(block[i])];
        first = std::min(first, i);
        until = i + 1;
    }
}

}  // namespace analysis
