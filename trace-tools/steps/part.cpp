// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/steps/part.hpp"

#include "base/cli/option_checks.hpp"
#include "base/error.hpp"
#include "base/saturating.hpp"
#include "base/units.hpp"
#include "trace-tools/otf2/read/soundness.hpp"
#include "trace-tools/steps/step_region.hpp"

#include <algorithm>

namespace otf2 {

namespace {

using Spans = std::vector<base::TimeSpan>;

std::size_t slot_of(const Archive& archive, std::uint32_t location)
{
    const std::uint32_t process = archive.locations[location].process;
    return process != nowhere ? process : archive.processes.size() + location;
}

// Collects each location's outermost visits of the region and last event, and the archive's first event.
class Visits : public Visitor {
 public:
    Visits(const Archive& archive, const std::string& name) : places_(archive.locations.size())
    {
        for (const Region& region : archive.regions) wanted_.push_back(!name.empty() && region.name == name);
    }

    void enter(const At& at, std::uint32_t region, const EventAttributes&) override
    {
        seen(at);
        Place& place = places_[at.location];
        if (wanted_[region] && place.depth++ == 0) place.begin_ns = at.time_ns;
    }
    void leave(const At& at, std::uint32_t region, const EventAttributes&) override
    {
        seen(at);
        Place& place = places_[at.location];
        if (wanted_[region] && place.depth > 0 && --place.depth == 0)
            place.spans.push_back({place.begin_ns, at.time_ns});
    }

    std::int64_t first_ns() const { return first_ns_; }

    // A visit that is never left lasts until the location's last event.
    Spans spans(std::size_t location) const
    {
        const Place& place = places_[location];
        Spans spans = place.spans;
        if (place.depth > 0) spans.push_back({place.begin_ns, place.last_ns});
        return spans;
    }

    Spans whole(std::size_t location) const
    {
        const Place& place = places_[location];
        return place.any ? Spans{{first_ns_, place.last_ns}} : Spans{};
    }

 private:
    struct Place {
        bool any = false;
        std::int64_t last_ns = 0;
        std::uint64_t depth = 0;
        std::int64_t begin_ns = 0;
        Spans spans;
    };

    void seen(const At& at)
    {
        first_ns_ = std::min(first_ns_, at.time_ns);
        places_[at.location].any = true;
        places_[at.location].last_ns = at.time_ns;
    }

    std::vector<bool> wanted_;  // by region
    std::vector<Place> places_;
    std::int64_t first_ns_ = INT64_MAX;
};

Spans united(Spans spans)
{
    std::ranges::sort(
        spans, [](const base::TimeSpan& one, const base::TimeSpan& other) { return one.begin_ns < other.begin_ns; });
    Spans disjoint;
    for (const base::TimeSpan& span : spans) {
        if (!disjoint.empty() && span.begin_ns <= disjoint.back().end_ns)
            disjoint.back().end_ns = std::max(disjoint.back().end_ns, span.end_ns);
        else
            disjoint.push_back(span);
    }
    return disjoint;
}

Spans cut(const Spans& spans, const base::TimeSpan& window)
{
    Spans inside;
    for (const auto& [begin_ns, end_ns] : spans) {
        const base::TimeSpan both{std::max(begin_ns, window.begin_ns), std::min(end_ns, window.end_ns)};
        if (both.begin_ns < both.end_ns) inside.push_back(both);
    }
    return inside;
}

std::int64_t after(std::int64_t first_ns, const char* option, const std::string& text, std::int64_t otherwise_ns)
{
    if (text.empty()) return otherwise_ns;
    return base::saturated_sum(first_ns, base::parsed<base::Nanoseconds>(option, text).count());
}

}  // namespace

std::string PartWords::text() const
{
    std::string all;
    for (const auto& [word, value] : {std::pair{"region ", region}, {"from ", from}, {"to ", to}})
        if (!value.empty()) all += base::join(all.empty() ? "" : " ", word, value);
    return all;
}

void add_part_options(base::Options& options, PartWords& words)
{
    options.add("region", words.region, "only the visits of this region, by any thread of a process", "NAME");
    options.add("from", words.from, "only from this time after the first event", "TIME");
    options.add("to", words.to, "only up to this time after the first event", "TIME");
}

std::int64_t Part::inside_ns(std::uint32_t location, std::int64_t begin_ns, std::int64_t end_ns) const
{
    const Spans& spans = spans_[slot_of(*archive_, location)];
    auto span = std::upper_bound(spans.begin(), spans.end(), begin_ns,
                                 [](std::int64_t ns, const base::TimeSpan& one) { return ns < one.end_ns; });
    std::int64_t sum_ns = 0;
    for (; span != spans.end() && span->begin_ns < end_ns; ++span)
        sum_ns += std::min(span->end_ns, end_ns) - std::max(span->begin_ns, begin_ns);
    return sum_ns;
}

Part part_of(Reader& reader, const PartWords& words)
{
    if (!words.any()) return {};
    const Archive& archive = reader.archive();
    const bool of_region = !words.region.empty();
    if (of_region && !archive.find_region(words.region)) fail_no_region(archive, words.region, "--region");
    const base::TimeSpan relative{after(0, "--from", words.from, 0), after(0, "--to", words.to, INT64_MAX)};
    if (relative.begin_ns >= relative.end_ns) base::fail_usage("--from ", words.from, " is not before --to ", words.to);

    Visits visits{archive, words.region};
    read_soundly(reader, visits);
    const base::TimeSpan window{after(visits.first_ns(), "--from", words.from, INT64_MIN),
                                after(visits.first_ns(), "--to", words.to, INT64_MAX)};
    std::vector<Spans> spans(archive.processes.size() + archive.locations.size());
    for (std::uint32_t location = 0; location < archive.locations.size(); ++location) {
        Spans& of_process = spans[slot_of(archive, location)];
        const Spans more = of_region ? visits.spans(location) : visits.whole(location);
        of_process.insert(of_process.end(), more.begin(), more.end());
    }
    bool any = false;
    for (Spans& one : spans) {
        one = cut(united(std::move(one)), window);
        any |= !one.empty();
    }
    if (!any) base::fail("nothing of ", reader.anchor().string(), " lies in ", words.text());
    return {archive, std::move(spans)};
}

}  // namespace otf2
