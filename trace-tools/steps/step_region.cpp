#include "trace-tools/steps/step_region.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "trace-tools/otf2/read/soundness.hpp"
#include "trace-tools/profile/ranks.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

namespace otf2 {

namespace {

// How often a location visited a region, and for how long.
struct Use {
    std::uint64_t visits = 0;
    std::uint64_t open = 0;
    std::int64_t begin_ns = 0;
    std::int64_t covered_ns = 0;
    std::size_t depth = 0;
    std::uint32_t around = nowhere;  // the region it is directly inside of
    bool same_place = true;          // at every visit
    std::int64_t numbered_ns = 0;    // of visits with an attribute `step`, outside of others that have one
    struct Lengths {
        std::uint64_t visits = 0;
        std::int64_t ns = 0;
    };
    std::map<std::size_t, Lengths> lengths;  // by power of two

    bool alike() const
    {
        for (const auto& [power, these] : lengths) {
            const auto next = lengths.find(power + 1);
            const Lengths more = next == lengths.end() ? Lengths{} : next->second;
            if (2 * (these.visits + more.visits) >= visits && 2 * (these.ns + more.ns) >= covered_ns) return true;
        }
        return false;
    }
};

class UseOfRegions : public Visitor {
 public:
    explicit UseOfRegions(const Archive& archive)
        : number_{archive.find_attribute(base::attribute::step)}, places_(archive.locations.size())
    {
    }

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        Place& place = seen(at);
        Use& use = place.uses[region];
        const bool numbered = place.numbered == 0 && number_ && attributes.number(*number_);
        const std::uint32_t around = place.open.empty() ? nowhere : place.open.back().region;
        place.open.push_back({region, numbered});
        if (numbered || place.numbered > 0) ++place.numbered;
        if (use.open++ > 0) return;
        if (use.visits == 0) {
            use.depth = place.open.size();
            use.around = around;
        }
        use.same_place = use.same_place && use.depth == place.open.size() && use.around == around;
        use.begin_ns = at.time_ns;
    }

    void leave(const At& at, std::uint32_t region, const EventAttributes&) override
    {
        Place& place = seen(at);
        const auto left = place.uses.find(region);
        if (left == place.uses.end() || left->second.open == 0) return;
        for (bool found = false; !found; place.open.pop_back()) {
            const Open last = place.open.back();
            found = last.region == region;
            if (place.numbered > 0) --place.numbered;
            end_visit(place.uses[last.region], last, at.time_ns);
        }
    }

    void metric(const At& at, std::uint32_t, const MetricValue&) override { seen(at); }
    void other(const At& at) override { seen(at); }

    bool saw_anything(std::size_t location) const { return places_[location].last_ns >= places_[location].first_ns; }
    std::int64_t length_ns(std::size_t location) const
    {
        return places_[location].last_ns - places_[location].first_ns;
    }
    const std::unordered_map<std::uint32_t, Use>& uses(std::size_t location) const { return places_[location].uses; }

 private:
    struct Open {
        std::uint32_t region;
        bool numbered;
    };
    struct Place {
        std::vector<Open> open;
        std::size_t numbered = 0;  // regions that are open, from the one with an attribute `step` on
        std::unordered_map<std::uint32_t, Use> uses;
        std::int64_t first_ns = INT64_MAX;
        std::int64_t last_ns = INT64_MIN;
    };

    static void end_visit(Use& use, const Open& visit, std::int64_t time_ns)
    {
        if (--use.open > 0) return;
        const std::int64_t length_ns = std::max<std::int64_t>(time_ns - use.begin_ns, 0);
        ++use.visits;
        use.covered_ns += length_ns;
        if (visit.numbered) use.numbered_ns += std::max<std::int64_t>(length_ns, 1);
        Use::Lengths& lengths = use.lengths[std::bit_width(static_cast<std::uint64_t>(length_ns))];
        ++lengths.visits;
        lengths.ns += length_ns;
    }

    Place& seen(const At& at)
    {
        Place& place = places_[at.location];
        place.first_ns = std::min(place.first_ns, at.time_ns);
        place.last_ns = std::max(place.last_ns, at.time_ns);
        return place;
    }

    std::optional<std::uint32_t> number_;
    std::vector<Place> places_;  // by location
};

// Of each rank the first location with events.
std::vector<std::size_t> first_locations(const Archive& archive, const UseOfRegions& use)
{
    const std::vector<std::int64_t> ranks = ranks_of_locations(archive);
    const bool has_ranks = std::any_of(ranks.begin(), ranks.end(), [](std::int64_t rank) { return rank >= 0; });
    std::map<std::uint32_t, std::size_t> first;  // by process
    for (std::size_t i = 0; i < archive.locations.size(); ++i)
        if (use.saw_anything(i) && (!has_ranks || ranks[i] >= 0) &&
            (archive.locations[i].kind == LocationKind::cpu_thread ||
             archive.locations[i].kind == LocationKind::unknown))
            first.try_emplace(archive.locations[i].process, i);
    std::vector<std::size_t> locations;
    for (const auto& [process, location] : first) locations.push_back(location);
    return locations;
}

// What it is like on all ranks; empty if it is no step on one of them.
std::optional<Use> use_as_step(std::uint32_t region, const std::vector<std::size_t>& locations,
                               const UseOfRegions& seen)
{
    constexpr std::uint64_t least_visits = 3;
    std::optional<Use> all;
    for (const std::size_t location : locations) {
        const auto found = seen.uses(location).find(region);
        if (found == seen.uses(location).end()) return {};
        const Use& use = found->second;
        if (use.visits < least_visits || !use.same_place || !use.alike() ||
            2 * use.covered_ns < seen.length_ns(location) || (all && use.visits != all->visits))
            return {};
        if (all)
            all->covered_ns += use.covered_ns;
        else
            all = use;
    }
    return all;
}

std::optional<std::uint32_t> with_number(const Archive& archive, const std::vector<std::size_t>& locations,
                                         const UseOfRegions& seen)
{
    std::vector<std::int64_t> numbered_ns(archive.regions.size());
    for (const std::size_t location : locations)
        for (const auto& [region, use] : seen.uses(location)) numbered_ns[region] += use.numbered_ns;
    const auto most = std::max_element(numbered_ns.begin(), numbered_ns.end());
    if (most == numbered_ns.end() || *most == 0) return {};
    return static_cast<std::uint32_t>(most - numbered_ns.begin());
}

std::string phase_name(const std::string& region)
{
    return region == "begin" || region == "end" ? region + " (region)" : region;  // columns of that name are times
}

class StepsOfLocations : public Visitor {
 public:
    StepsOfLocations(const Archive& archive, std::uint32_t region)
        : archive_{archive},
          region_{region},
          number_{archive.find_attribute(base::attribute::step)},
          phase_of_(archive.regions.size(), no_phase),
          places_(archive.locations.size())
    {
    }

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        Place& place = places_[at.location];
        if (place.open.empty()) {
            if (region != region_) return;
            const auto number = number_ ? attributes.number(*number_) : std::nullopt;
            place.step.number =
                number ? static_cast<std::int64_t>(*number) : static_cast<std::int64_t>(place.steps.size());
            place.step.begin_ns = at.time_ns;
            place.step.phase_ns.clear();
        }
        if (place.open.size() == 1) place.phase_begin_ns = at.time_ns;
        place.open.push_back(region);
    }

    void leave(const At& at, std::uint32_t region, const EventAttributes&) override
    {
        Place& place = places_[at.location];
        const auto left = std::find(place.open.rbegin(), place.open.rend(), region);
        if (left == place.open.rend()) return;
        const auto first = static_cast<std::size_t>(place.open.rend() - left) - 1;
        if (first <= 1 && place.open.size() > 1) end_phase(place, at.time_ns);
        place.open.resize(first);
        if (first > 0) return;
        place.step.end_ns = at.time_ns;
        place.steps.push_back(place.step);
    }

    StepTable table() const
    {
        StepTable table;
        table.phases = phases_;
        table.phases.emplace_back("other");
        const std::vector<std::int64_t> ranks = ranks_of_locations(archive_);
        std::map<std::uint32_t, std::size_t> places;  // by process
        for (std::size_t i = 0; i < places_.size(); ++i) {
            if (places_[i].steps.empty()) continue;
            const auto [known, added] = places.try_emplace(archive_.locations[i].process, i);
            if (!added && places_[i].steps.size() > places_[known->second].steps.size()) known->second = i;
        }
        for (const auto& [process, place] : places)
            table.ranks.push_back({.rank = ranks[place] >= 0    ? ranks[place]
                                           : process == nowhere ? 0
                                                                : process,
                                   .location = static_cast<std::uint32_t>(place),
                                   .steps = whole(places_[place].steps)});
        std::sort(table.ranks.begin(), table.ranks.end(),
                  [](const StepsOfRank& a, const StepsOfRank& b) { return a.rank < b.rank; });
        return table;
    }

 private:
    static constexpr std::size_t no_phase = SIZE_MAX;

    struct Place {
        std::vector<std::uint32_t> open;  // from the step on
        std::int64_t phase_begin_ns = 0;
        Step step;
        std::vector<Step> steps;
    };

    // Regions of the same name are the same phase; one called `other` is what lies in no other.
    void end_phase(Place& place, std::int64_t time_ns)
    {
        const std::uint32_t region = place.open[1];
        if (archive_.regions[region].name == "other") return;
        std::size_t& phase = phase_of_[region];
        if (phase == no_phase) {
            const std::string name = phase_name(archive_.regions[region].name);
            const auto known = std::find(phases_.begin(), phases_.end(), name);
            phase = static_cast<std::size_t>(known - phases_.begin());
            if (known == phases_.end()) phases_.push_back(name);
        }
        if (place.step.phase_ns.size() <= phase) place.step.phase_ns.resize(phase + 1);
        place.step.phase_ns[phase] += time_ns - place.phase_begin_ns;
    }

    // With all phases, and what is left of the step.
    std::vector<Step> whole(std::vector<Step> steps) const
    {
        for (Step& step : steps) {
            std::int64_t rest = step.end_ns - step.begin_ns;
            for (const std::int64_t ns : step.phase_ns) rest -= ns;
            step.phase_ns.resize(phases_.size());
            step.phase_ns.push_back(rest);
        }
        return steps;
    }

    const Archive& archive_;
    std::uint32_t region_;
    std::optional<std::uint32_t> number_;
    std::vector<std::size_t> phase_of_;  // by region
    std::vector<std::string> phases_;
    std::vector<Place> places_;  // by location
};

}  // namespace

bool could_be_a_step(const Region& region)
{
    switch (region.paradigm) {
        case Paradigm::unknown:
        case Paradigm::user:
        case Paradigm::compiler:
        case Paradigm::none:
            return true;
        default:
            return false;
    }
}

std::optional<std::uint32_t> find_step_region(Reader& reader)
{
    const Archive& archive = reader.archive();
    UseOfRegions seen{archive};
    read_soundly(reader, seen);
    const std::vector<std::size_t> locations = first_locations(archive, seen);
    if (const auto numbered = with_number(archive, locations, seen)) return numbered;
    std::optional<std::uint32_t> best;
    Use use_of_best;
    for (std::uint32_t region = 0; region < archive.regions.size(); ++region) {
        if (!could_be_a_step(archive.regions[region])) continue;
        const std::optional<Use> use = use_as_step(region, locations, seen);
        if (!use) continue;
        const bool better = !best || use->depth < use_of_best.depth ||
                            (use->depth == use_of_best.depth && use->covered_ns > use_of_best.covered_ns);
        if (!better) continue;
        best = region;
        use_of_best = *use;
    }
    return best;
}

std::uint32_t step_region_named(const Archive& archive, const std::string& name)
{
    const auto region = archive.find_region(name);
    if (!region) base::fail_usage("--step-region: there is no region '", name, "' in the archive");
    return *region;
}

StepTable read_steps(Reader& reader, std::uint32_t region)
{
    StepsOfLocations steps{reader.archive(), region};
    read_soundly(reader, steps);
    return steps.table();
}

}  // namespace otf2
