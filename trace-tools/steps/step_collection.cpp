#include "trace-tools/steps/step_collection.hpp"

#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/read/soundness.hpp"

#include <algorithm>
#include <map>

namespace otf2 {

namespace {

constexpr std::size_t no_phase = SIZE_MAX;

std::string phase_name(const std::string& region)
{
    return region == "begin" || region == "end" ? region + " (region)" : region;  // columns of that name are times
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
    place.step.phase_ns.clear();
    if (observer_ != nullptr) observer_->begin_step(at, number);
}

void StepCollection::end(const At& at)
{
    Place& place = places_[at.location];
    place.step.end_ns = at.time_ns;
    place.steps.push_back(place.step);
    if (observer_ != nullptr) observer_->end_step(at);
}

void StepCollection::phase(std::uint32_t location, std::uint32_t region, std::int64_t ns)
{
    if (archive_.regions[region].name == "other") return;
    std::size_t& phase = phase_of_[region];
    if (phase == no_phase) {
        const std::string name = phase_name(archive_.regions[region].name);
        const auto known = std::find(phases_.begin(), phases_.end(), name);
        phase = static_cast<std::size_t>(known - phases_.begin());
        if (known == phases_.end()) phases_.push_back(name);
    }
    std::vector<std::int64_t>& phase_ns = places_[location].step.phase_ns;
    if (phase_ns.size() <= phase) phase_ns.resize(phase + 1);
    phase_ns[phase] += ns;
}

StepTable StepCollection::table() const
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

// With all phases, and what is left of the step.
std::vector<Step> StepCollection::whole(std::vector<Step> steps) const
{
    for (Step& step : steps) {
        std::int64_t rest = step.end_ns - step.begin_ns;
        for (const std::int64_t ns : step.phase_ns) rest -= ns;
        step.phase_ns.resize(phases_.size());
        step.phase_ns.push_back(rest);
    }
    return steps;
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
