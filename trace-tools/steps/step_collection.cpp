// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/steps/step_collection.hpp"

#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/read/soundness.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace otf2 {

namespace {

constexpr std::size_t no_phase = SIZE_MAX;

std::string phase_name(const std::string& region)
{
    return region == "begin" || region == "end" ? region + " (region)" : region;  // columns begin and end are times
}

}  // namespace

StepCollection::StepCollection(const Archive& archive, StepObserver* observer)
    : archive_{archive},
      observer_{observer},
      phase_of_(archive.regions.size(), no_phase),
      places_(archive.locations.size())
{
}

void StepCollection::begin(const At& at, std::optional<std::int64_t> number)
{
    Place& place = places_[at.location];
    place.step.number = number.value_or(static_cast<std::int64_t>(place.steps.size()));
    place.step.begin_ns = at.time_ns;
    place.phase_ns.clear();
    if (observer_ != nullptr) observer_->begin_step(at, number);
}

void StepCollection::end(const At& at)
{
    Place& place = places_[at.location];
    place.step.end_ns = at.time_ns;
    std::int64_t rest_ns = place.step.end_ns - place.step.begin_ns;
    if (place.phases_ns.size() < place.phase_ns.size()) place.phases_ns.resize(place.phase_ns.size());
    for (std::size_t phase = 0; phase < place.phase_ns.size(); ++phase) {
        place.phases_ns[phase].resize(place.steps.size());
        place.phases_ns[phase].push_back(place.phase_ns[phase]);
        rest_ns -= place.phase_ns[phase];
    }
    place.rest_ns.push_back(rest_ns);
    place.steps.push_back(place.step);
    if (observer_ != nullptr) observer_->end_step(at);
}

void StepCollection::phase(std::uint32_t location, std::uint32_t region, std::int64_t ns)
{
    if (archive_.regions[region].name == "other") return;
    std::size_t& phase = phase_of_[region];
    if (phase == no_phase) {
        const std::string name = phase_name(archive_.regions[region].name);
        const auto known = std::ranges::find(phases_, name);
        phase = static_cast<std::size_t>(known - phases_.begin());
        if (known == phases_.end()) phases_.push_back(name);
    }
    std::vector<std::int64_t>& phase_ns = places_[location].phase_ns;
    if (phase_ns.size() <= phase) phase_ns.resize(phase + 1);
    phase_ns[phase] += ns;
}

StepTable StepCollection::table()
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
    for (const auto& [process, place] : places) {
        Place& own = places_[place];
        own.phases_ns.resize(phases_.size());
        for (base::LongColumn<std::int64_t>& phase : own.phases_ns) phase.resize(own.steps.size());
        own.phases_ns.push_back(std::move(own.rest_ns));
        table.ranks.push_back({.rank = ranks[place] >= 0    ? ranks[place]
                                       : process == nowhere ? 0
                                                            : process,
                               .location = static_cast<std::uint32_t>(place),
                               .steps = std::move(own.steps),
                               .phase_ns = std::move(own.phases_ns)});
    }
    std::ranges::sort(table.ranks, [](const StepsOfRank& a, const StepsOfRank& b) { return a.rank < b.rank; });
    return table;
}

void keep_steps(StepsOfRank& rank, const std::function<bool(const Step&)>& wanted)
{
    base::LongColumn<Step> steps;
    std::vector<base::LongColumn<std::int64_t>> phase_ns(rank.phase_ns.size());
    for (std::size_t i = 0; i < rank.steps.size(); ++i) {
        const Step step = std::as_const(rank.steps)[i];
        if (!wanted(step)) continue;
        steps.push_back(step);
        for (std::size_t p = 0; p < phase_ns.size(); ++p) phase_ns[p].push_back(std::as_const(rank.phase_ns[p])[i]);
    }
    rank.steps = std::move(steps);
    rank.phase_ns = std::move(phase_ns);
}

void read_observed(Reader& reader, Visitor& steps, StepObserver* observer)
{
    if (observer == nullptr) {
        read_soundly(reader, steps);
        return;
    }
    FanOut both{&steps, observer};
    read_soundly(reader, both);
}

}  // namespace otf2
