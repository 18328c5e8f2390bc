// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/profile/call_path_profile.hpp"

#include "base/error.hpp"
#include "base/saturating.hpp"

namespace otf2 {

CallPathProfile::CallPathProfile(const Archive& archive, CallTree& tree)
    : archive_{archive}, tree_{tree}, places_(archive.locations.size()), by_location_(archive.locations.size())
{
}

void CallPathProfile::enter(const At& at, std::uint32_t region, const EventAttributes&)
{
    event(at);
    Place& place = places_[at.location];
    const std::uint32_t parent = place.open.empty() ? nowhere : place.open.back().call_path;
    const std::uint32_t call_path = tree_.child(parent, region);
    place.open.push_back(
        {.region = region, .call_path = call_path, .folded = call_path == parent, .begin_ns = at.time_ns});
    if (place.times_open.size() <= region) place.times_open.resize(region + 1);
    ++place.times_open[region];
}

void CallPathProfile::leave(const At& at, std::uint32_t region, const EventAttributes&)
{
    event(at);
    Place& place = places_[at.location];
    if (place.times_open.size() <= region || place.times_open[region] == 0) return;
    while (place.open.back().region != region) close(at.location, at.time_ns);
    close(at.location, at.time_ns);
}

void CallPathProfile::close(std::uint32_t location, std::int64_t end_ns)
{
    Place& place = places_[location];
    const Visit visit = place.open.back();
    place.open.pop_back();
    --place.times_open[visit.region];
    if (visit.folded) {
        ++place.folded;
        return;
    }
    std::vector<CallPathVisits>& call_paths = by_location_[location];
    if (call_paths.size() <= visit.call_path) call_paths.resize(visit.call_path + 1);
    ++call_paths[visit.call_path].visits;
    call_paths[visit.call_path].inclusive_ns.add(base::saturated_difference(end_ns, visit.begin_ns));
}

void CallPathProfile::finish()
{
    for (std::uint32_t location = 0; location < places_.size(); ++location)
        for (Place& place = places_[location]; !place.open.empty();) close(location, place.last_ns);
}

std::vector<std::string> CallPathProfile::problems() const
{
    std::vector<std::string> problems;
    const auto tell = [&](std::uint64_t count, const char* what, const Location& location) {
        if (count > 0) problems.push_back(base::join(location.name, " (", location.id, "): ", count, what));
    };
    for (std::size_t i = 0; i < places_.size(); ++i) {
        tell(places_[i].folded, " visits are nested too deep and are merged into their parent", archive_.locations[i]);
    }
    return problems;
}

}  // namespace otf2
