// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/designed.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <set>

namespace noisegen {

namespace {

std::set<Treatment> treatments_in(const std::vector<Slot>& table)
{
    std::set<Treatment> treatments;
    for (const Slot& slot : table) treatments.insert(slot.treatment);
    return treatments;
}

// Number of blocks that contain all these treatments.
int complete_blocks(const Schedule& schedule, const std::vector<Slot>& table, std::size_t treatments)
{
    const bool in_blocks = schedule.design != Schedule::Design::sequence;
    int complete = 0;
    std::set<Treatment> seen;
    std::uint64_t block = 0;
    for (const Slot& slot : table) {
        if (in_blocks && slot.block != block) seen.clear();
        block = slot.block;
        seen.insert(slot.treatment);
        if (seen.size() < treatments) continue;
        ++complete;
        seen.clear();
    }
    return complete;
}

// Length of two repetitions of the schedule; zero if it has no blocks.
base::Nanoseconds two_rounds(const Schedule& schedule)
{
    if (const auto* sequence = std::get_if<Sequence>(&schedule.order)) {
        base::Nanoseconds round{};
        for (const Sequence::Entry& slot : sequence->entries) round += slot.length;
        return 2 * round;
    }
    return 2 * schedule.block_length();
}

}  // namespace

std::string why_no_report(const Schedule& schedule, const std::vector<Slot>& table)
{
    const std::string instead = "; use rotation(A, B, placebo, control.delay, control.sham; slot=auto)";
    const std::set<Treatment> treatments = treatments_in(table);
    const base::Nanoseconds needed = two_rounds(schedule);
    const base::Nanoseconds duration = table.empty() ? base::Nanoseconds{} : table.back().end;
    if (needed > duration)
        return base::join("the schedule repeats after ", base::format(needed / 2),
                          ", and a report needs two repetitions: --duration ", base::format(needed), " or more");
    if (!treatments.contains(Treatment{}))
        return "the schedule is never quiet, so there is no baseline: add quiet, or rate=0.. in a ramp" + instead;
    if (treatments.size() == 1) return "the schedule is always quiet, so there is nothing to measure" + instead;
    if (complete_blocks(schedule, table, treatments.size()) < 2)
        return base::join("in ", base::format(duration), " not every treatment occurs twice: give a longer --duration",
                          instead);
    return "";
}

bool is_constant(const Schedule& schedule)
{
    const auto* sequence = std::get_if<Sequence>(&schedule.order);
    return sequence != nullptr && std::ranges::all_of(sequence->entries, [&](const Sequence::Entry& slot) {
               return slot.treatment == sequence->entries.front().treatment;
           });
}

std::string missing_controls(const Schedule& schedule)
{
    bool placebo = false;
    bool known = false;
    for (const Configured& stressor : schedule.stressors) {
        placebo = placebo || stressor.card->role == base::Role::placebo;
        known = known || stressor.card->role == base::Role::delay || stressor.card->role == base::Role::pause;
    }
    if (placebo && known) return "";
    return placebo ? "control" : known ? "placebo" : "placebo and no control";
}

}  // namespace noisegen
