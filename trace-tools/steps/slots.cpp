// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/steps/slots.hpp"

#include "base/contract/trace_names.hpp"

#include <algorithm>

namespace otf2 {

namespace {

std::int64_t number(const EventAttributes& attributes, const std::optional<std::uint32_t>& attribute)
{
    return attribute ? static_cast<std::int64_t>(attributes.number(*attribute).value_or(0)) : 0;
}

std::string text(const EventAttributes& attributes, const std::optional<std::uint32_t>& attribute)
{
    return std::string{attribute ? attributes.text(*attribute).value_or("") : ""};
}

}  // namespace

std::uint32_t schedule_location(const Archive& archive, std::size_t processes)
{
    for (std::uint32_t i = 0; i < archive.locations.size(); ++i) {
        const Location& location = archive.locations[i];
        if (location.name == base::location::schedule && (processes == SIZE_MAX || location.process < processes))
            return i;
    }
    return nowhere;
}

SlotReader::SlotReader(const Archive& archive, std::uint32_t location)
    : archive_{archive},
      location_{location},
      block_{archive.find_attribute(base::attribute::block)},
      position_{archive.find_attribute(base::attribute::position)},
      level_{archive.find_attribute(base::attribute::level)},
      stressor_{archive.find_attribute(base::attribute::stressor)},
      role_{archive.find_attribute(base::attribute::role)}
{
}

void SlotReader::enter(const At& at, std::uint32_t region, const EventAttributes& attributes)
{
    if (at.location != location_) return;
    if (depth_++ == 0)
        slots.push_back({.block = number(attributes, block_),
                         .begin_ns = at.time_ns,
                         .end_ns = at.time_ns,
                         .position = number(attributes, position_)});
    const std::string& factor = archive_.regions[region].name;
    if (factor == base::region::quiet) return;
    const std::string role = text(attributes, role_);
    slots.back().on.push_back({factor, text(attributes, level_), text(attributes, stressor_),
                               role.empty() ? base::Role::treatment : base::parse_role(role)});
}

void SlotReader::leave(const At& at, std::uint32_t, const EventAttributes&)
{
    if (at.location != location_ || depth_ == 0 || --depth_ > 0) return;
    Slot& slot = slots.back();
    slot.end_ns = at.time_ns;
    std::ranges::sort(slot.on, [](const Assigned& a, const Assigned& b) { return a.factor < b.factor; });
}

}  // namespace otf2
