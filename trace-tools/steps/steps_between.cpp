// SPDX-License-Identifier: Apache-2.0
// Steps of programs that mark none: from one call to the next.
#include "trace-tools/steps/step_region.hpp"

#include <algorithm>

namespace otf2 {

namespace {

class StepsBetween : public StepVisitor {
 public:
    StepsBetween(const Archive& archive, std::uint32_t region, int every, StepObserver* observer)
        : region_{region},
          every_{static_cast<std::uint64_t>(every)},
          steps_{archive, observer},
          places_(archive.locations.size())
    {
    }

    void enter(const At& at, std::uint32_t region, const EventAttributes&) override
    {
        places_[at.location].open.push_back({region, at.time_ns});
    }

    void leave(const At& at, std::uint32_t region, const EventAttributes&) override
    {
        Place& place = places_[at.location];
        const auto left =
            std::find_if(place.open.rbegin(), place.open.rend(), [&](const Open& one) { return one.region == region; });
        if (left == place.open.rend()) return;
        const auto level = static_cast<std::size_t>(place.open.rend() - left) - 1;
        const bool inside = place.in_step && level >= place.level;
        if (inside && level == place.level) steps_.phase(at.location, region, at.time_ns - place.open[level].begin_ns);
        place.open.resize(level);
        place.in_step = inside;
        if (region != region_ || is_open(place, region) || place.visits++ % every_ != 0) return;
        if (inside && level == place.level) steps_.end(at);
        steps_.begin(at);
        place.level = level;
        place.in_step = true;
    }

    StepTable table() override { return steps_.table(); }

 private:
    struct Open {
        std::uint32_t region;
        std::int64_t begin_ns;
    };
    struct Place {
        std::vector<Open> open;
        std::size_t level = 0;  // number of regions that enclose the calls
        bool in_step = false;
        std::uint64_t visits = 0;
    };

    static bool is_open(const Place& place, std::uint32_t region)
    {
        return std::ranges::any_of(place.open, [&](const Open& one) { return one.region == region; });
    }

    std::uint32_t region_;
    std::uint64_t every_;
    StepCollection steps_;
    std::vector<Place> places_;  // by location
};

}  // namespace

std::unique_ptr<StepVisitor> steps_between_visits(const Archive& archive, std::uint32_t region, int every,
                                                  StepObserver* observer)
{
    return std::make_unique<StepsBetween>(archive, region, every, observer);
}

}  // namespace otf2
