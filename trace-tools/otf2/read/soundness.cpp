// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/soundness.hpp"

#include "base/error.hpp"
#include "base/saturating.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"

#include <algorithm>
#include <deque>

namespace otf2 {

namespace {

constexpr std::size_t searched_levels = 64;  // depth of the search in a stack, which keeps deep recursion fast

}  // namespace

bool Soundness::Stack::holds(std::uint32_t region) const
{
    const auto end = open.begin() + static_cast<std::ptrdiff_t>(std::min(open.size(), searched_levels));
    return std::find(open.begin(), end, region) != end || (!deep.empty() && deep.contains(region));
}

void Soundness::Stack::pop()
{
    const std::uint32_t region = open.back();
    open.pop_back();
    if (open.size() < searched_levels) return;
    const auto found = deep.find(region);
    if (--found->second == 0) deep.erase(found);
}

Soundness::Soundness(const Archive& archive)
    : archive_{archive}, locations_(archive.locations.size()), stacks_(archive.locations.size())
{
}

void Soundness::event(const At& at)
{
    LocationProfile& location = locations_[at.location];
    if (location.events++ == 0)
        location.first_ns = at.time_ns;
    else if (at.time_ns < location.last_ns)
        ++location.backwards;
    location.last_ns = at.time_ns;
}

bool Soundness::entered(const At& at, std::uint32_t region)
{
    event(at);
    Stack& stack = stacks_[at.location];
    const bool inside_itself = stack.holds(region);
    if (stack.open.size() >= searched_levels) ++stack.deep[region];
    stack.open.push_back(region);
    return inside_itself;
}

std::size_t Soundness::left(const At& at, std::uint32_t region)
{
    event(at);
    Stack& stack = stacks_[at.location];
    if (!stack.holds(region)) {
        ++stack.strays[region];
        return 0;
    }
    std::size_t levels = 1;
    for (; stack.open.back() != region; ++levels) {
        ++stack.skipped[stack.open.back()];
        stack.pop();
    }
    stack.pop();
    if (region >= stack.left.size()) stack.left.resize(region + 1);
    stack.left[region] = true;
    if (stack.holds(region))
        stack.left_inside_itself.insert(region);
    else if (!stack.left_inside_itself.empty())
        stack.left_inside_itself.erase(region);
    return levels;
}

void Soundness::add(const Soundness& other)
{
    for (std::size_t i = 0; i < locations_.size(); ++i) {
        if (other.locations_[i].events == 0) continue;
        locations_[i] = other.locations_[i];
        stacks_[i] = other.stacks_[i];
    }
}

// Other tools mark points in time with regions that they never leave (TraceR's TRACER_WallTime_...), or end within
// regions. But if a region is left elsewhere, or stays open after a nested visit of it was left, a LEAVE is missing,
// and the times of all enclosing regions are doubtful.
std::vector<LocationProfile> Soundness::locations() const
{
    std::vector<LocationProfile> all = locations_;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Stack& stack = stacks_[i];
        for (const auto& [region, count] : stack.skipped)
            (stack.is_left(region) ? all[i].lost_leaves : all[i].markers) += count;
        for (const auto& [region, count] : stack.strays) {
            const auto skipped = stack.skipped.find(region);  // EZTrace leaves regions after the enclosing one
            const bool known = stack.is_left(region) || stack.holds(region) ||
                               (skipped != stack.skipped.end() && skipped->second != count);
            (known || archive_.is_ours() ? all[i].stray_leaves : all[i].end_markers) += count;
        }
        for (const std::uint32_t region : stack.open)
            ++(stack.left_inside_itself.contains(region) ? all[i].lost_leaves : all[i].open_at_the_end);
    }
    return all;
}

// According to OTF2, no event is before the start in the clock properties, or after start + length. Corrected times are
// rounded. Some writers state the properties on a location's own clock, and some take the end before their last threads
// and devices have ended, so a hundredth of the length is tolerated. Crosstalk's own archives must be exact.
Soundness::Reach Soundness::reach(std::size_t number) const
{
    constexpr std::int64_t rounding_ns = 1000;
    constexpr std::int64_t forgiven_share = 100;
    const Clock& clock = archive_.clock;
    const LocationProfile& location = locations_[number];
    if (!clock.stated || location.events == 0) return Reach::inside;
    const std::int64_t tick_ns =
        clock.ticks_per_s > 0 ? static_cast<std::int64_t>(1'000'000'000 / clock.ticks_per_s) : 0;
    std::int64_t beyond_ns = INT64_MAX;
    const auto on_a_clock = [&](std::int64_t least_ns, std::int64_t most_ns) {
        const std::int64_t begin_ns = base::saturated_sum(clock.begin_ns, least_ns);
        const std::int64_t end_ns = base::saturated_sum(base::saturated_sum(clock.begin_ns, clock.length_ns), most_ns);
        beyond_ns = std::min(beyond_ns, std::max(base::saturated_difference(begin_ns, location.first_ns),
                                                 base::saturated_difference(location.last_ns, end_ns)));
    };
    on_a_clock(0, 0);
    const std::vector<ClockOffset>& offsets = archive_.locations[number].clock_offsets;
    if (!offsets.empty()) {
        // A drifting clock has different offsets at the first and at the last event.
        const auto [least, most] = std::minmax_element(
            offsets.begin(), offsets.end(),
            [](const ClockOffset& one, const ClockOffset& other) { return one.offset_ns < other.offset_ns; });
        on_a_clock(least->offset_ns, most->offset_ns);
        on_a_clock(base::saturated_difference(0, most->offset_ns), base::saturated_difference(0, least->offset_ns));
    }
    if (beyond_ns <= rounding_ns + tick_ns) return Reach::inside;
    if (archive_.is_ours()) return Reach::beyond;
    constexpr std::int64_t lengths_of_another = 100;  // the clock properties may be those of a process that ended early
    const bool of_another = others_are_inside(number) && beyond_ns / lengths_of_another <= clock.length_ns;
    return of_another || beyond_ns <= clock.length_ns / forgiven_share ? Reach::a_little_beyond : Reach::beyond;
}

// Some writers (EZTrace) state the clock properties of one process for all.
bool Soundness::others_are_inside(std::size_t number) const
{
    const Clock& clock = archive_.clock;
    const std::int64_t end_ns = base::saturated_sum(clock.begin_ns, clock.length_ns);
    for (std::size_t i = 0; i < locations_.size(); ++i)
        if (archive_.locations[i].process != archive_.locations[number].process && locations_[i].events > 0 &&
            locations_[i].first_ns >= clock.begin_ns && locations_[i].last_ns <= end_ns)
            return true;
    return false;
}

// If no location overlaps them, the writer did not fill in the clock properties (OTF2's example writes 0 and 2).
bool Soundness::some_are_inside() const
{
    const Clock& clock = archive_.clock;
    const std::int64_t end_ns = base::saturated_sum(clock.begin_ns, clock.length_ns);
    return clock.length_ns > 0 && std::ranges::any_of(locations_, [&](const LocationProfile& location) {
               return location.events > 0 && location.first_ns <= end_ns && location.last_ns >= clock.begin_ns;
           });
}

std::vector<std::string> Soundness::problems() const
{
    std::vector<std::string> problems;
    const auto tell = [&](std::uint64_t count, const std::string& what, const Location& location) {
        if (count > 0) problems.push_back(base::join(location.name, " (", location.id, "): ", count, " ", what));
    };
    const std::vector<LocationProfile> found = locations();
    const bool clock_is_meant = archive_.is_ours() || some_are_inside();
    for (std::size_t i = 0; i < found.size(); ++i) {
        const Location& location = archive_.locations[i];
        tell(found[i].backwards, "time stamps smaller than the previous one", location);
        tell(found[i].lost_leaves, "regions entered but not left, although other visits of them are left", location);
        tell(found[i].stray_leaves, "regions left without being entered", location);
        if (clock_is_meant && reach(i) == Reach::beyond)
            problems.push_back(
                base::join(location.name, " (", location.id, "): events lie outside of the clock properties' range"));
    }
    return problems;
}

std::vector<std::string> Soundness::oddities() const
{
    std::vector<std::string> oddities;
    std::uint64_t markers = 0;
    std::uint64_t open = 0;
    std::uint64_t end_markers = 0;
    for (const LocationProfile& location : locations()) {
        end_markers += location.end_markers;
        markers += location.markers;
        open += location.open_at_the_end;
    }
    if (markers > 0)
        oddities.push_back(base::join(markers, " regions are never left; assumed to end with their parent"));
    if (end_markers > 0)
        oddities.push_back(
            base::join(end_markers, " regions are left without being entered; these events are ignored"));
    if (open > 0) oddities.push_back(base::join(open, " regions are never left; assumed to end at the last event"));
    const bool clock_is_meant = archive_.is_ours() || some_are_inside();
    bool beyond = false;
    for (std::size_t i = 0; i < locations_.size(); ++i)
        beyond |= reach(i) == Reach::a_little_beyond || (!clock_is_meant && reach(i) == Reach::beyond);
    if (beyond) oddities.emplace_back("events lie outside of the clock properties' range");
    return oddities;
}

std::vector<std::string> problems_of(const Reader& reader, const Soundness& soundness)
{
    std::vector<std::string> all;
    for (const auto& list : {reader.archive().problems, reader.problems(), soundness.problems()})
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

std::vector<std::string> oddities_of(const Reader& reader, const Soundness& soundness)
{
    std::vector<std::string> all;
    for (const auto& list : {reader.archive().oddities, reader.oddities(), soundness.oddities()})
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

void refuse_unsound(const Reader& reader, const Soundness& soundness)
{
    const std::vector<std::string> problems = problems_of(reader, soundness);
    if (problems.empty()) return;
    const std::string more = problems.size() == 1 ? ""
                                                  : base::join(" and ", problems.size() - 1,
                                                               " more problems (trace-info --check shows all)");
    base::fail("trace ", reader.anchor().string(), " is not sound: ", base::printable(problems.front()), more);
}

void read_soundly(Reader& reader, Visitor& visitor)
{
    Visitor* const alone = &visitor;
    read_soundly(reader, std::span<Visitor* const>{&alone, 1});
}

void read_soundly(Reader& reader, std::span<Visitor* const> visitors)
{
    std::deque<Soundness> parts;
    std::deque<FanOut<Soundness, Visitor>> with_parts;
    std::vector<Visitor*> all;
    for (Visitor* visitor : visitors) {
        Soundness& part = parts.emplace_back(reader.archive());
        all.push_back(&with_parts.emplace_back(&part, visitor));
    }
    reader.read_by_location(all);
    for (; parts.size() > 1; parts.pop_back()) parts.front().add(parts.back());
    refuse_unsound(reader, parts.front());
}

}  // namespace otf2
