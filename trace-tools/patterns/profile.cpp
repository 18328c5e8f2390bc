#include "trace-tools/patterns/profile.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace otf2 {

void Spread::add(std::int64_t value)
{
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
}

Profile::Profile(const Archive& archive)
    : archive_{archive},
      regions_(archive.regions.size()),
      metrics_(archive.metrics.size()),
      locations_(archive.locations.size()),
      communicators_(archive.communicators.size()),
      stacks_(archive.locations.size())
{
}

LocationProfile& Profile::event(const At& at)
{
    LocationProfile& location = locations_[at.location];
    if (location.events++ == 0)
        location.first_ns = at.time_ns;
    else if (at.time_ns < location.last_ns)
        ++location.backwards;
    location.last_ns = at.time_ns;
    return location;
}

void Profile::enter(const At& at, std::uint32_t region, const EventAttributes&)
{
    event(at);
    std::vector<Visit>& stack = stacks_[at.location];
    const bool inside_itself =
        std::any_of(stack.begin(), stack.end(), [&](const Visit& visit) { return visit.region == region; });
    stack.push_back({.region = region, .begin_ns = at.time_ns, .inside_ns = 0, .inside_itself = inside_itself});
}

void Profile::leave(const At& at, std::uint32_t region, const EventAttributes&)
{
    LocationProfile& location = event(at);
    std::vector<Visit>& stack = stacks_[at.location];
    const bool entered =
        std::any_of(stack.begin(), stack.end(), [&](const Visit& visit) { return visit.region == region; });
    if (!entered) {
        ++location.stray_leaves;
        return;
    }
    for (; stack.back().region != region; ++location.skipped_leaves) close(stack, at.time_ns);
    close(stack, at.time_ns);
}

void Profile::close(std::vector<Visit>& stack, std::int64_t end_ns)
{
    const Visit visit = stack.back();
    stack.pop_back();
    const std::int64_t length_ns = end_ns - visit.begin_ns;
    RegionProfile& region = regions_[visit.region];
    ++region.visits;
    region.inclusive_ns.add(length_ns);
    if (visit.inside_itself) region.inclusive_ns.sum -= length_ns;
    region.exclusive_ns.add(length_ns - visit.inside_ns);
    if (!stack.empty()) stack.back().inside_ns += length_ns;
}

void Profile::metric(const At& at, std::uint32_t metric, const MetricValue& value)
{
    if (value.member == 0) event(at);
    MetricProfile& profile = metrics_[metric];
    const double number = value.as_double();
    profile.least = profile.values == 0 ? number : std::min(profile.least, number);
    profile.most = profile.values == 0 ? number : std::max(profile.most, number);
    profile.sum += number;
    ++profile.values;
}

void Profile::collective_end(const At& at, const CollectiveRecord& record)
{
    event(at);
    if (record.communicator != nowhere) ++communicators_[record.communicator].collectives[record.operation];
}

void Profile::send(const At& at, const MessageRecord& message)
{
    event(at);
    if (message.communicator == nowhere) return;
    ++communicators_[message.communicator].messages;
    communicators_[message.communicator].message_bytes += message.bytes;
}

void Profile::finish()
{
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
        locations_[i].open_regions += stacks_[i].size();
        while (!stacks_[i].empty()) close(stacks_[i], locations_[i].last_ns);
    }
}

std::vector<std::string> Profile::problems() const
{
    std::vector<std::string> problems;
    const auto tell = [&](std::uint64_t count, const std::string& what, const Location& location) {
        if (count > 0) problems.push_back(base::join(location.name, " (", location.id, "): ", count, " ", what));
    };
    for (std::size_t i = 0; i < locations_.size(); ++i) {
        const Location& location = archive_.locations[i];
        tell(locations_[i].backwards, "time stamps smaller than the one before", location);
        tell(locations_[i].open_regions, "regions never left; taken as left at the last event", location);
        tell(locations_[i].skipped_leaves, "regions never left; taken as left with the region around them", location);
        tell(locations_[i].stray_leaves, "regions left that were not entered", location);
    }
    return problems;
}

}  // namespace otf2
