// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/steps/use_of_regions.hpp"

#include "base/contract/trace_names.hpp"

#include <algorithm>
#include <bit>

namespace otf2 {

RegionUse::Lengths& RegionUse::of_length(std::int64_t ns)
{
    const auto power = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ns)));
    for (auto& [other, these] : lengths)
        if (other == power) return these;
    return lengths.emplace_back(power, Lengths{}).second;
}

bool RegionUse::alike() const
{
    for (const auto& [power, these] : lengths) {
        Lengths both = these;
        for (const auto& [other, more] : lengths) {
            if (other != power + 1) continue;
            both.visits += more.visits;
            both.ns += more.ns;
        }
        if (2 * both.visits >= visits && 2 * both.ns >= covered_ns) return true;
    }
    return false;
}

UseOfRegions::UseOfRegions(const Archive& archive)
    : number_{archive.find_attribute(base::attribute::step)},
      places_(archive.locations.size()),
      use_places_(archive.regions.size())
{
}

void UseOfRegions::enter(const At& at, std::uint32_t region, const EventAttributes& attributes)
{
    Place& place = seen(at);
    RegionUse& use = use_of(place, region);
    const bool numbered = place.numbered == 0 && number_ && attributes.number(*number_);
    const std::uint32_t around = place.open.empty() ? nowhere : place.open.back().region;
    place.open.push_back({region, numbered});
    if (numbered || place.numbered > 0) ++place.numbered;
    if (use.open++ > 0) return;
    if (use.visits == 0) {
        use.depth = place.open.size();
        use.around = around;
        use.first_ns = at.time_ns;
    }
    use.same_place = use.same_place && use.depth == place.open.size() && use.around == around;
    use.begin_ns = at.time_ns;
}

void UseOfRegions::leave(const At& at, std::uint32_t region, const EventAttributes&)
{
    Place& place = seen(at);
    if (use_places_[region] == 0 || use_of(place, region).open == 0) return;
    for (bool found = false; !found; place.open.pop_back()) {
        const Open last = place.open.back();
        found = last.region == region;
        if (place.numbered > 0) --place.numbered;
        end_visit(use_of(place, last.region), last, at.time_ns);
    }
}

void UseOfRegions::end_visit(RegionUse& use, const Open& visit, std::int64_t time_ns)
{
    if (--use.open > 0) return;
    const std::int64_t length_ns = std::max<std::int64_t>(time_ns - use.begin_ns, 0);
    ++use.visits;
    use.covered_ns += length_ns;
    if (visit.numbered) use.numbered_ns += std::max<std::int64_t>(length_ns, 1);
    RegionUse::Lengths& lengths = use.of_length(length_ns);
    ++lengths.visits;
    lengths.ns += length_ns;
}

UseOfRegions::Place& UseOfRegions::seen(const At& at)
{
    Place& place = places_[at.location];
    if (at.location != location_) {  // seldom
        location_ = at.location;
        std::fill(use_places_.begin(), use_places_.end(), 0);
        for (std::size_t i = 0; i < place.uses.size(); ++i)
            use_places_[place.uses[i].first] = static_cast<std::uint32_t>(i + 1);
    }
    place.first_ns = std::min(place.first_ns, at.time_ns);
    place.last_ns = std::max(place.last_ns, at.time_ns);
    return place;
}

RegionUse& UseOfRegions::use_of(Place& place, std::uint32_t region)
{
    if (use_places_[region] == 0) {
        place.uses.emplace_back(region, RegionUse{});
        use_places_[region] = static_cast<std::uint32_t>(place.uses.size());
    }
    return place.uses[use_places_[region] - 1].second;
}

void UseOfRegions::add(UseOfRegions& other)
{
    for (std::size_t location = 0; location < places_.size(); ++location)
        if (other.saw_anything(location)) places_[location] = std::move(other.places_[location]);
}

void UseOfRegions::finish()
{
    for (Place& place : places_)
        std::ranges::sort(place.uses, [](const auto& one, const auto& other) { return one.first < other.first; });
}

const RegionUse* UseOfRegions::find(std::size_t location, std::uint32_t region) const
{
    const Uses& all = places_[location].uses;
    const auto found = std::lower_bound(all.begin(), all.end(), region,
                                        [](const auto& use, std::uint32_t number) { return use.first < number; });
    return found != all.end() && found->first == region ? &found->second : nullptr;
}

}  // namespace otf2
