// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/recording/lanes.hpp"

#include <algorithm>

namespace gpu {

namespace {

constexpr std::size_t most_lanes = 8;

}  // namespace

void Lanes::Lane::leave_until(std::int64_t time_ns)
{
    for (; !open.empty() && open.back().end_ns <= time_ns; open.pop_back())
        location->leave(open.back().region, open.back().end_ns);
}

void Lanes::add(otf2::RegionRef region, std::int64_t begin_ns, std::int64_t end_ns,
                std::span<const otf2::AttributeValue> attributes)
{
    for (Lane& lane : lanes_) lane.leave_until(begin_ns);
    auto place =
        std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return end_ns <= lane.room_until(); });
    if (place == lanes_.end() && lanes_.size() < most_lanes) {
        const std::string suffix = lanes_.empty() ? "" : " (overlap " + std::to_string(lanes_.size()) + ")";
        lanes_.push_back({&make_(suffix), {}});
        place = lanes_.end() - 1;
    }
    if (place == lanes_.end()) {
        place = lanes_.begin();
        end_ns = place->room_until();
        ++nested_.cut;
    } else if (place != lanes_.begin()) {
        ++nested_.moved;
    }
    place->location->enter_with(region, begin_ns, attributes);
    place->open.push_back({region, end_ns});
}

void Lanes::finish()
{
    for (Lane& lane : lanes_) lane.leave_until(INT64_MAX);
}

}  // namespace gpu
