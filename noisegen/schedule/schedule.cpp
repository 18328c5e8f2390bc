// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/schedule.hpp"

#include "base/contract/factor_name.hpp"

#include <algorithm>
#include <array>

namespace noisegen {

std::vector<std::string> Schedule::factors() const
{
    std::vector<std::string> labels;
    for (const FactorLevel& level : levels)
        if (std::ranges::find(labels, level.factor) == labels.end()) labels.push_back(level.factor);
    return labels;
}

std::vector<std::size_t> Schedule::with_own_cpus() const
{
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < stressors.size(); ++i)
        if (stressors[i].card->cpus != StressorCard::Cpus::none) own.push_back(i);
    return own;
}

void Schedule::set_slot(base::Nanoseconds length)
{
    std::get<Blocks>(order).slot = length;
}

bool Schedule::needs_slot() const
{
    const auto* blocks = std::get_if<Blocks>(&order);
    return blocks != nullptr && !blocks->slot.has_value();
}

base::Nanoseconds Schedule::slot_length() const
{
    if (const auto* random = std::get_if<RandomSlots>(&order)) return random->slot;
    const auto* blocks = std::get_if<Blocks>(&order);
    return blocks == nullptr ? base::Nanoseconds{} : blocks->slot.value_or(base::Nanoseconds{});
}

base::Nanoseconds Schedule::block_length() const
{
    const auto* blocks = std::get_if<Blocks>(&order);
    if (blocks == nullptr || !blocks->slot) return {};
    return *blocks->slot * static_cast<std::int64_t>(blocks->treatments.size());
}

void follow(Schedule& schedule, const std::vector<base::TrainingPhase>& phases)
{
    if (phases.empty()) return;
    bool any = false;
    for (FactorLevel& level : schedule.levels) {
        if (!has_intensity(*schedule.stressors[level.stressor].card) || level.intensity.duty.value < 100.0) continue;
        if (level.intensity.follow.empty()) level.intensity.follow = phases;
        any = true;
    }
    if (!any) base::fail_usage("--follow: no stressor in '", schedule.text, "' can follow a training");
}

std::string name(Schedule::Design design)
{
    constexpr std::array names{"sequence", "rotation", "factorial"};
    return names.at(static_cast<std::size_t>(design));
}

std::optional<base::Nanoseconds> only_length(const Schedule& schedule)
{
    const auto* sequence = std::get_if<Sequence>(&schedule.order);
    if (sequence == nullptr || sequence->entries.size() != 1) return {};
    return sequence->entries.front().length;
}

std::string text(const FactorLevel& level)
{
    return base::factor_name(level.factor, level.level);
}

}  // namespace noisegen
