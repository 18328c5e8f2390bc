// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/steps/step_region.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/mpi_calls.hpp"
#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/soundness.hpp"
#include "trace-tools/steps/step_collection.hpp"
#include "trace-tools/steps/use_of_regions.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace otf2 {

namespace {

// Returns each rank's first CPU thread with events; locations of unknown kind count as CPU threads.
std::vector<std::size_t> first_locations(const Archive& archive, const UseOfRegions& use)
{
    const std::vector<std::int64_t> ranks = ranks_of_locations(archive);
    const bool has_ranks = std::ranges::any_of(ranks, [](std::int64_t rank) { return rank >= 0; });
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

// Returns the region's use on the first rank, with the covered time of all ranks; empty unless it qualifies on all.
std::optional<RegionUse> use_as_step(std::uint32_t region, const std::vector<std::size_t>& locations,
                                     const UseOfRegions& seen)
{
    constexpr std::uint64_t least_visits = 3;
    std::optional<RegionUse> all;
    for (const std::size_t location : locations) {
        const RegionUse* const found = seen.find(location, region);
        if (found == nullptr) return {};
        const RegionUse& use = *found;
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

// EZTrace and TAU give all regions the role function, so names of MPI calls are used as well.
bool is_collective(const Region& region)
{
    const std::string call = mpi_call_name(region);
    for (const char* name : {"MPI_Barrier", "MPI_Bcast", "MPI_Allgather", "MPI_Allreduce", "MPI_Alltoall", "MPI_Gather",
                             "MPI_Reduce", "MPI_Scan", "MPI_Scatter"})
        if (call.starts_with(name)) return call != "MPI_Reduce_local";
    return otf2::is_collective(region.role) && !call.empty();
}

// Returns how often each rank makes this call (the smallest count); 0 if the call cannot separate steps, or if its
// first and last call are less than this share of the run apart. A killed program may have made its last calls on some
// ranks only.
std::uint64_t calls_on_every_rank(std::uint32_t region, const std::vector<std::size_t>& locations,
                                  const UseOfRegions& seen, double least_share)
{
    constexpr std::uint64_t least_calls = 3;
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    for (const std::size_t location : locations) {
        const RegionUse* const found = seen.find(location, region);
        if (found == nullptr) return 0;
        const RegionUse& use = *found;
        const auto apart_ns = static_cast<double>(use.begin_ns - use.first_ns);
        const auto least_ns = least_share * static_cast<double>(seen.length_ns(location));
        if (use.visits < least_calls || !use.same_place || apart_ns < least_ns) return 0;
        least = std::min(least, use.visits);
        most = std::max(most, use.visits);
    }
    return locations.empty() || most > least + std::max<std::uint64_t>(1, least / 100) ? 0 : least;
}

// Returns all locations except accelerator streams.
std::vector<std::size_t> all_threads(const Archive& archive)
{
    std::vector<std::size_t> threads;
    for (std::size_t i = 0; i < archive.locations.size(); ++i)
        if (archive.locations[i].kind != LocationKind::accelerator_stream) threads.push_back(i);
    return threads;
}

std::optional<std::uint32_t> with_number(const Archive& archive, const std::vector<std::size_t>& locations,
                                         const UseOfRegions& seen)
{
    std::vector<std::int64_t> numbered_ns(archive.regions.size());
    for (const std::size_t location : locations)
        for (const auto& [region, use] : seen.uses(location)) numbered_ns[region] += use.numbered_ns;
    const auto most = std::ranges::max_element(numbered_ns);
    if (most == numbered_ns.end() || *most == 0) return {};
    return static_cast<std::uint32_t>(most - numbered_ns.begin());
}

class StepsOfRegion : public StepVisitor {
 public:
    StepsOfRegion(const Archive& archive, std::uint32_t region, StepObserver* observer)
        : region_{region},
          number_{archive.find_attribute(base::attribute::step)},
          unfinished_{archive.find_attribute(base::attribute::unfinished)},
          steps_{archive, observer},
          places_(archive.locations.size())
    {
    }

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        Place& place = places_[at.location];
        if (place.open.empty()) {
            if (region != region_) return;
            const auto number = number_ ? attributes.number(*number_) : std::nullopt;
            steps_.begin(at, number ? std::optional{static_cast<std::int64_t>(*number)} : std::nullopt);
        }
        if (place.open.size() == 1) place.phase_begin_ns = at.time_ns;
        place.open.push_back(region);
    }

    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        Place& place = places_[at.location];
        const auto left = std::find(place.open.rbegin(), place.open.rend(), region);
        if (left == place.open.rend()) return;
        const auto first = static_cast<std::size_t>(place.open.rend() - left) - 1;
        if (first <= 1 && place.open.size() > 1)
            steps_.phase(at.location, place.open[1], at.time_ns - place.phase_begin_ns);
        place.open.resize(first);
        const bool unfinished = unfinished_ && attributes.number(*unfinished_).value_or(0) != 0;
        if (first == 0 && !unfinished) steps_.end(at);
    }

    StepTable table() override { return steps_.table(); }

 private:
    struct Place {
        std::vector<std::uint32_t> open;  // from the step inwards
        std::int64_t phase_begin_ns = 0;
    };

    std::uint32_t region_;
    std::optional<std::uint32_t> number_;
    std::optional<std::uint32_t> unfinished_;
    StepCollection steps_;
    std::vector<Place> places_;  // by location
};

}  // namespace

bool could_be_a_step(const Region& region)
{
    return !is_mpi_call(region) && is_of_program_or_mpi(region.paradigm);
}

namespace {

std::optional<std::uint32_t> step_region(const Archive& archive, const std::vector<std::size_t>& locations,
                                         const UseOfRegions& seen)
{
    if (const auto numbered = with_number(archive, locations, seen)) return numbered;
    if (const auto numbered = with_number(archive, all_threads(archive), seen)) return numbered;
    std::optional<std::uint32_t> best;
    RegionUse use_of_best;
    for (std::uint32_t region = 0; region < archive.regions.size(); ++region) {
        if (!could_be_a_step(archive.regions[region])) continue;
        const std::optional<RegionUse> use = use_as_step(region, locations, seen);
        if (!use) continue;
        const bool better = !best || use->depth < use_of_best.depth ||
                            (use->depth == use_of_best.depth && use->covered_ns > use_of_best.covered_ns);
        if (!better) continue;
        best = region;
        use_of_best = *use;
    }
    return best;
}

std::optional<std::uint32_t> step_call(const Archive& archive, const std::vector<std::size_t>& locations,
                                       const UseOfRegions& seen)
{
    constexpr std::uint64_t enough_calls = 100;
    const auto marked = archive.find_region("MPI_Pcontrol");
    if (marked && calls_on_every_rank(*marked, locations, seen, 0.0) > 0) return marked;
    std::optional<std::uint32_t> best;
    std::uint64_t calls_of_best = 0;
    for (std::uint32_t region = 0; region < archive.regions.size(); ++region) {
        if (!is_collective(archive.regions[region])) continue;
        const std::uint64_t calls = calls_on_every_rank(region, locations, seen, 0.5);
        const bool better =
            calls_of_best < enough_calls ? calls > calls_of_best : calls >= enough_calls && calls < calls_of_best;
        if (!better) continue;
        best = region;
        calls_of_best = calls;
    }
    return best;
}

}  // namespace

FoundSteps find_steps(Reader& reader, int threads)
{
    const Archive& archive = reader.archive();
    std::deque<UseOfRegions> parts;
    std::vector<Visitor*> visitors;
    for (int i = 0; i < threads; ++i) visitors.push_back(&parts.emplace_back(archive));
    read_soundly(reader, visitors);
    for (; parts.size() > 1; parts.pop_back()) parts.front().add(parts.back());
    return find_steps(archive, parts.front());
}

FoundSteps find_steps(const Archive& archive, UseOfRegions& seen)
{
    seen.finish();
    const std::vector<std::size_t> locations = first_locations(archive, seen);
    FoundSteps found{step_region(archive, locations, seen), {}};
    if (!found.region) found.call = step_call(archive, locations, seen);
    return found;
}

std::optional<std::uint32_t> find_step_region(Reader& reader, int threads)
{
    return find_steps(reader, threads).region;
}

std::uint32_t step_region_named(const Archive& archive, const std::string& name, const char* option)
{
    const auto region = archive.find_region(name);
    if (!region) fail_no_region(archive, name, option);
    return *region;
}

std::unique_ptr<StepVisitor> visits_as_steps(const Archive& archive, std::uint32_t region, StepObserver* observer)
{
    return std::make_unique<StepsOfRegion>(archive, region, observer);
}

StepTable read_steps(Reader& reader, std::uint32_t region, StepObserver* observer)
{
    StepsOfRegion steps{reader.archive(), region, observer};
    read_observed(reader, steps, observer);
    return steps.table();
}

void fail_no_region(const Archive& archive, const std::string& name, const char* option)
{
    constexpr std::size_t most = 10'000;  // names compared for the suggestion
    std::vector<std::string> names;
    for (const Region& region : archive.regions)
        if (names.size() < most) names.push_back(region.name);
    base::fail_usage(option, ": no region '", name, "' in the archive", base::did_you_mean(name, names));
}

}  // namespace otf2
