#include "analysis/estimate/exposure.hpp"

#include "base/contract/phases.hpp"
#include "base/contract/roles.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace analysis {

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

constexpr double whole = 1.0 - 1e-6;  // shares are quotients of integers below 2^53

double covered(const Overlaps& overlaps)
{
    double sum = 0.0;
    for (const Overlap& overlap : overlaps) sum += overlap.share;
    return sum;
}

bool acts_on_whole_steps(const Treatment& treatment)
{
    return std::any_of(treatment.on.begin(), treatment.on.end(),
                       [](const Assigned& on) { return base::acts_on_whole_steps(on.role); });
}

// Which steps did what such a control asks for, and for which treatments any step wholly under them did.
struct Obeyed {
    std::vector<bool> steps;
    std::vector<bool> treatments;
};

bool at_control_border(const Overlaps& overlaps, const Experiment& plan, const Obeyed& obeyed, std::size_t step)
{
    bool right = false;  // wholly under such a control, and did what it asks for if any step did
    bool wrong = false;
    std::map<std::size_t, double> shares;  // by treatment
    for (const Overlap& overlap : overlaps) shares[plan.treatment_of[overlap.slot]] += overlap.share;
    for (const auto& [treatment, share] : shares)
        if (acts_on_whole_steps(plan.treatments[treatment]))
            (share >= whole && (obeyed.steps[step] || !obeyed.treatments[treatment]) ? right : wrong) = true;
    return wrong || (obeyed.steps[step] && !right);
}

// By step: did any rank settle for a control?
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

Obeyed obeyed_by(const StepTable& steps, const std::vector<StepOverlaps>& ranks, const Experiment& plan)
{
    Obeyed obeyed{touched_by_a_control(steps), std::vector<bool>(plan.treatments.size(), false)};
    for (std::size_t i = 0; i < obeyed.steps.size(); ++i) {
        if (!obeyed.steps[i]) continue;
        for (const StepOverlaps& rank : ranks) {
            const Overlaps overlaps = rank[i];
            if (covered(overlaps) >= whole && wholly_under(overlaps, plan, plan.treatment_of[overlaps.front().slot]))
                obeyed.treatments[plan.treatment_of[overlaps.front().slot]] = true;
        }
    }
    return obeyed;
}

bool in_guard(std::int64_t begin_ns, const Overlaps& overlaps, std::span<const Slot> slots, base::Nanoseconds guard)
{
    return !overlaps.empty() && begin_ns - slots[overlaps.front().slot].begin_ns < guard.count();
}

LeftOut judge(std::int64_t begin_ns, const Overlaps& overlaps, std::span<const Slot> slots, const Experiment& plan,
              const ExposureRules& rules, const Obeyed& obeyed, std::size_t step)
{
    if (covered(overlaps) < whole) return LeftOut::not_covered;
    if (in_guard(begin_ns, overlaps, slots, rules.guard)) return LeftOut::guard;
    if (at_control_border(overlaps, plan, obeyed, step)) return LeftOut::control_border;
    return LeftOut::no;
}

Overlaps mean_over_ranks(const std::vector<StepOverlaps>& ranks, std::size_t step)
{
    if (ranks.size() == 1) return ranks.front()[step];
    std::map<std::size_t, double> sums;
    for (const StepOverlaps& rank : ranks)
        for (const Overlap& overlap : rank[step]) sums[overlap.slot] += overlap.share;
    Overlaps mean;
    for (const auto& [slot, sum] : sums) mean.push_back({slot, sum / static_cast<double>(ranks.size())});
    return mean;
}

int block_of(const Overlaps& overlaps, const Experiment& plan)
{
    const auto most = std::max_element(overlaps.begin(), overlaps.end(),
                                       [](const Overlap& a, const Overlap& b) { return a.share < b.share; });
    return most == overlaps.end() ? -1 : plan.block_of[most->slot];
}

StepOverlaps overlaps_of(const RankSteps& rank, const std::vector<Slot>& slots)
{
    const auto kept = std::make_shared<const std::vector<Slot>>(slots);
    return {rank.begin_ns.size(), [kept, &begin_ns = rank.begin_ns, &end_ns = rank.end_ns](std::size_t step) {
                return exposure(begin_ns[step], end_ns[step], *kept);
            }};
}

}  // namespace

StepOverlaps::StepOverlaps(std::vector<Overlaps> all)
    : steps_{all.size()}, of_{[all = std::move(all)](std::size_t step) { return all[step]; }}
{
}

Exposures expose(const StepTable& steps, std::span<const std::vector<Slot>> slots, const Experiment& plan,
                 const ExposureRules& rules)
{
    const std::size_t count = steps.numbers.size();
    Exposures exposures;
    exposures.left_out.assign(count, LeftOut::no);
    for (std::size_t r = 0; r < steps.ranks.size(); ++r)
        exposures.ranks.push_back(overlaps_of(steps.ranks[r], slots[r]));
    const Obeyed obeyed = obeyed_by(steps, exposures.ranks, plan);
    for (std::size_t r = 0; r < steps.ranks.size(); ++r)
        for (std::size_t i = 0; i < count; ++i) {
            const LeftOut reason =
                static_cast<std::int64_t>(i) < rules.warm_up_steps
                    ? LeftOut::warm_up
                    : judge(steps.ranks[r].begin_ns[i], exposures.ranks[r][i], slots[r], plan, rules, obeyed, i);
            if (exposures.left_out[i] == LeftOut::no) exposures.left_out[i] = reason;
        }
    exposures.job = {count, [ranks = exposures.ranks](std::size_t step) { return mean_over_ranks(ranks, step); }};
    for (std::size_t i = 0; i < count; ++i) exposures.block.push_back(block_of(exposures.job[i], plan));
    return exposures;
}

base::LongColumn<int> used_blocks(const Exposures& exposures, bool with_outliers)
{
    base::LongColumn<int> block;
    for (std::size_t i = 0; i < exposures.block.size(); ++i) {
        const LeftOut reason = exposures.left_out[i];
        const bool left_out = reason != LeftOut::no && !(with_outliers && reason == LeftOut::outlier);
        block.push_back(left_out ? -1 : exposures.block[i]);
    }
    return block;
}

}  // namespace analysis
