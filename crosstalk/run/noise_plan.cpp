// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/noise_plan.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <vector>

namespace crosstalk {

std::optional<NoisePlan> noise_plan(const std::filesystem::path& run)
{
    const std::filesystem::path file = run / base::part::noise / base::file::noise_plan;
    if (!std::filesystem::exists(file)) return {};
    const auto plan = base::read_json(file);
    return NoisePlan{.on_ns = plan.at("start_realtime_ns").get<std::int64_t>() - base::realtime_offset_ns(),
                     .slot = base::Nanoseconds{plan.at("slot_ns").get<std::int64_t>()}};
}

BlockOfSlots first_block(const std::string& slots)
{
    BlockOfSlots block;
    std::istringstream lines{slots};
    for (std::string line; std::getline(lines, line);) {
        const std::vector<std::string> cells = base::split(line, ',');  // slot,block,position,begin_ns,end_ns,treatment
        if (cells.size() < 6 || cells[1] != "0") continue;
        ++block.slots;
        block.quiet += cells[5] == base::region::quiet ? 1 : 0;
        block.end_ns = base::parse<std::int64_t>(cells[4]);
    }
    return block;
}

base::Nanoseconds two_blocks(const std::string& schedule, const std::string& slots, base::Nanoseconds slot)
{
    if (!schedule.starts_with("rotation(") && !schedule.starts_with("factorial(")) return {};
    const BlockOfSlots block = first_block(slots);
    const bool measured = schedule.find("slot=auto") != std::string::npos;
    return 2 * (measured ? static_cast<std::int64_t>(block.slots) * slot : base::Nanoseconds{block.end_ns});
}

}  // namespace crosstalk
