// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/profile/profile.hpp"

#include "base/saturating.hpp"

#include <algorithm>

namespace otf2 {

void Spread::add(std::int64_t value)
{
    add({.sum = value, .least = value, .most = value});
}

void Spread::add(const Spread& other)
{
    sum = base::saturated_sum(sum, other.sum);
    least = std::min(least, other.least);
    most = std::max(most, other.most);
}

double MetricProfile::growth_per_s() const
{
    const std::int64_t length_ns = base::saturated_difference(last_ns, first_ns);
    return length_ns > 0 ? growth / (static_cast<double>(length_ns) / 1e9) : std::nan("");
}

Profile::Profile(const Archive& archive)
    : archive_{archive},
      regions_(archive.regions.size()),
      metrics_(archive.metrics.size()),
      communicators_(archive.communicators.size()),
      soundness_{archive},
      stacks_(archive.locations.size()),
      counters_(archive.locations.size()),
      outermost_(archive.locations.size())
{
}

void Profile::enter(const At& at, std::uint32_t region, const EventAttributes&)
{
    const bool inside_itself = soundness_.entered(at, region);
    stacks_[at.location].visits.push_back(
        {.region = region, .begin_ns = at.time_ns, .inside_ns = 0, .inside_itself = inside_itself});
}

void Profile::leave(const At& at, std::uint32_t region, const EventAttributes&)
{
    for (std::size_t levels = soundness_.left(at, region); levels > 0; --levels) close(at.location, at.time_ns);
}

void Profile::close(std::uint32_t location, std::int64_t end_ns)
{
    Stack& stack = stacks_[location];
    const Visit visit = stack.visits.back();
    stack.visits.pop_back();
    const std::int64_t length_ns = base::saturated_difference(end_ns, visit.begin_ns);
    RegionProfile& region = regions_[visit.region];
    ++region.visits;
    region.inclusive_ns.add(length_ns);
    if (visit.inside_itself) region.inclusive_ns.sum = base::saturated_difference(region.inclusive_ns.sum, length_ns);
    region.exclusive_ns.add(base::saturated_difference(length_ns, visit.inside_ns));
    if (stack.visits.empty()) {
        OutermostProfile& outermost = outermost_[location];
        ++outermost.visits;
        outermost.ns = base::saturated_sum(outermost.ns, length_ns);
    } else {
        std::int64_t& inside_ns = stack.visits.back().inside_ns;
        inside_ns = base::saturated_sum(inside_ns, length_ns);
    }
}

void Profile::metric(const At& at, std::uint32_t metric, const MetricValue& value)
{
    if (value.member == 0) soundness_.event(at);
    MetricProfile& profile = metrics_[metric];
    const double number = value.as_double();
    profile.least = profile.values == 0 ? number : std::min(profile.least, number);
    profile.most = profile.values == 0 ? number : std::max(profile.most, number);
    profile.sum += number;
    ++profile.values;
    if (archive_.metrics[metric].mode != MetricMode::accumulated_start) return;
    profile.first_ns = std::min(profile.first_ns, at.time_ns);
    profile.last_ns = std::max(profile.last_ns, at.time_ns);
    double& last = counters_[at.location].last.try_emplace(metric, number).first->second;
    profile.growth += number - last;
    last = number;
}

void Profile::collective_end(const At& at, const CollectiveRecord& record)
{
    soundness_.event(at);
    if (record.communicator != nowhere) ++communicators_[record.communicator].collectives[record.operation];
}

void Profile::send(const At& at, const MessageRecord& message)
{
    soundness_.event(at);
    if (message.communicator == nowhere) return;
    ++communicators_[message.communicator].messages;
    communicators_[message.communicator].message_bytes += message.bytes;
}

void Profile::finish()
{
    const std::vector<LocationProfile> locations = soundness_.locations();
    for (std::uint32_t i = 0; i < stacks_.size(); ++i)
        while (!stacks_[i].visits.empty()) close(i, locations[i].last_ns);
}

void Profile::add(const Profile& other)
{
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        regions_[i].visits += other.regions_[i].visits;
        regions_[i].inclusive_ns.add(other.regions_[i].inclusive_ns);
        regions_[i].exclusive_ns.add(other.regions_[i].exclusive_ns);
    }
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
        const MetricProfile& theirs = other.metrics_[i];
        MetricProfile& ours = metrics_[i];
        if (theirs.values == 0) continue;
        ours.least = ours.values == 0 ? theirs.least : std::min(ours.least, theirs.least);
        ours.most = ours.values == 0 ? theirs.most : std::max(ours.most, theirs.most);
        ours.sum += theirs.sum;
        ours.values += theirs.values;
        ours.first_ns = std::min(ours.first_ns, theirs.first_ns);
        ours.last_ns = std::max(ours.last_ns, theirs.last_ns);
        ours.growth += theirs.growth;
    }
    for (std::size_t i = 0; i < outermost_.size(); ++i) {
        outermost_[i].visits += other.outermost_[i].visits;
        outermost_[i].ns = base::saturated_sum(outermost_[i].ns, other.outermost_[i].ns);
    }
    soundness_.add(other.soundness_);
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
        communicators_[i].messages += other.communicators_[i].messages;
        communicators_[i].message_bytes += other.communicators_[i].message_bytes;
        for (const auto& [operation, count] : other.communicators_[i].collectives)
            communicators_[i].collectives[operation] += count;
    }
}

}  // namespace otf2
