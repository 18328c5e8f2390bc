// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/analysis/windows.hpp"

#include "trace-tools/otf2/clock_offset.hpp"

#include <optional>
#include <utility>

namespace gpu {

std::vector<otf2::StepsOfRank> steps_on_common_clock(otf2::Reader& reader, const otf2::StepChoice& choice)
{
    const otf2::ReadOptions before = reader.set({.undo_clock_offsets = true});
    std::optional<otf2::ChosenSteps> chosen = otf2::chosen_steps(reader, choice);
    reader.set(before);
    if (!chosen) return {};
    for (otf2::StepsOfRank& rank : chosen->table.ranks) {
        const auto& offsets = reader.archive().locations[rank.location].clock_offsets;
        for (std::size_t i = 0; i < rank.steps.size(); ++i) {
            otf2::Step& step = rank.steps[i];
            step.begin_ns = otf2::on_common_clock(step.begin_ns, offsets);
            step.end_ns = otf2::on_common_clock(step.end_ns, offsets);
        }
    }
    return std::move(chosen->table.ranks);
}

}  // namespace gpu
