#include "analysis/noise_archive.hpp"

#include "analysis/roles.hpp"
#include "analysis/trial_reading.hpp"
#include "base/error.hpp"
#include "trace-tools/otf2/reader.hpp"

#include <algorithm>

namespace analysis {

namespace {

class ScheduleReader : public otf2::Visitor {
 public:
    explicit ScheduleReader(const otf2::Archive& archive)
        : archive_{archive},
          block_{archive.find_attribute("block")},
          level_{archive.find_attribute("level")},
          stressor_{archive.find_attribute("stressor")},
          open_(archive.locations.size())
    {
    }

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        const std::string& location = archive_.locations[at.location].name;
        const std::string& name = archive_.regions[region].name;
        if (location == "schedule") {
            if (depth_++ == 0) chips.push_back({number(attributes, block_), at.time_ns, at.time_ns, {}});
            if (name != "quiet")
                chips.back().on.push_back({name, text(attributes, level_), text(attributes, stressor_)});
        } else if (location.starts_with("cpu ")) {
            open_[at.location].push_back({region, at.time_ns});
        }
    }

    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        const std::string& location = archive_.locations[at.location].name;
        if (location == "schedule") {
            if (depth_ == 0 || --depth_ > 0) return;
            Chip& chip = chips.back();
            chip.end_ns = at.time_ns;
            std::sort(chip.on.begin(), chip.on.end(),
                      [](const Assigned& a, const Assigned& b) { return a.factor < b.factor; });
        } else if (location.starts_with("cpu ") && !open_[at.location].empty()) {
            const Open last = open_[at.location].back();
            open_[at.location].pop_back();
            if (last.region != region) return;
            const std::string& name = archive_.regions[region].name;
            const bool within_its_phase = !open_[at.location].empty();
            if (within_its_phase && name == "training stopped")
                stopped.push_back({last.begin_ns, at.time_ns});
            else
                achieved[name].push_back({last.begin_ns, at.time_ns});
        }
    }

    std::vector<Chip> chips;
    std::map<std::string, std::vector<Stretch>> achieved;
    std::vector<Stretch> stopped;

 private:
    struct Open {
        std::uint32_t region = 0;
        std::int64_t begin_ns = 0;
    };

    static std::int64_t number(const otf2::EventAttributes& attributes, const std::optional<std::uint32_t>& attribute)
    {
        return attribute ? static_cast<std::int64_t>(attributes.number(*attribute).value_or(0)) : 0;
    }
    static std::string text(const otf2::EventAttributes& attributes, const std::optional<std::uint32_t>& attribute)
    {
        return std::string{attribute ? attributes.text(*attribute).value_or("") : ""};
    }

    const otf2::Archive& archive_;
    std::optional<std::uint32_t> block_;
    std::optional<std::uint32_t> level_;
    std::optional<std::uint32_t> stressor_;
    int depth_ = 0;
    std::vector<std::vector<Open>> open_;
};

std::vector<Stretch> merged(std::vector<Stretch> stretches)
{
    std::sort(stretches.begin(), stretches.end(),
              [](const Stretch& a, const Stretch& b) { return a.begin_ns < b.begin_ns; });
    std::vector<Stretch> disjoint;
    for (const Stretch& stretch : stretches) {
        if (!disjoint.empty() && stretch.begin_ns <= disjoint.back().end_ns)
            disjoint.back().end_ns = std::max(disjoint.back().end_ns, stretch.end_ns);
        else
            disjoint.push_back(stretch);
    }
    return disjoint;
}

std::int64_t overlap_ns(const Chip& chip, const std::vector<Stretch>& stretches)
{
    std::int64_t sum = 0;
    auto stretch = std::partition_point(stretches.begin(), stretches.end(),
                                        [&](const Stretch& s) { return s.end_ns <= chip.begin_ns; });
    for (; stretch != stretches.end() && stretch->begin_ns < chip.end_ns; ++stretch)
        sum += std::min(chip.end_ns, stretch->end_ns) - std::max(chip.begin_ns, stretch->begin_ns);
    return sum;
}

}  // namespace

Noise read_noise(const std::filesystem::path& path)
{
    constexpr otf2::ReadOptions own_clock{.undo_clock_offsets = true};
    try_reading(path, own_clock);
    otf2::Reader reader{path, own_clock};
    const otf2::Archive& archive = reader.archive();
    const auto schedule = std::find_if(archive.locations.begin(), archive.locations.end(),
                                       [](const otf2::Location& location) { return location.name == "schedule"; });
    if (schedule == archive.locations.end())
        base::fail(path.string(), " has no location 'schedule': it is no archive of noisegen");
    ScheduleReader visitor{archive};
    reader.read_by_location(visitor);
    if (!reader.problems().empty()) base::fail(path.string(), " is not whole: ", reader.problems().front());

    Noise noise;
    noise.archive = path;
    noise.clock = archive.clock_identity(*schedule);
    const std::uint32_t node =
        schedule->process == otf2::nowhere ? otf2::nowhere : archive.processes[schedule->process].node;
    noise.host = node == otf2::nowhere ? "" : archive.nodes[node].name;
    noise.design = parse_design(archive.property("crosstalk::design").value_or("sequence"));
    noise.schedule = archive.property("crosstalk::schedule").value_or("");
    noise.seed = archive.property("crosstalk::seed").value_or("");
    noise.chips = std::move(visitor.chips);
    std::erase_if(noise.chips, [](const Chip& chip) { return chip.end_ns <= chip.begin_ns; });
    if (noise.chips.empty()) base::fail(path.string(), " holds no chips: no noise was scheduled");
    for (auto& [region, stretches] : visitor.achieved) noise.achieved[region] = merged(std::move(stretches));
    noise.stopped = merged(std::move(visitor.stopped));
    return noise;
}

std::map<std::string, double> achieved_share(const Noise& noise)
{
    std::map<std::string, double> assigned_ns;
    std::map<std::string, double> achieved_ns;
    for (const Chip& chip : noise.chips) {
        for (const Assigned& on : chip.on) {
            const Role role = role_of(on.stressor);
            if (role == Role::placebo || acts_on_whole_steps(role)) continue;
            assigned_ns[on.factor] += static_cast<double>(chip.end_ns - chip.begin_ns);
            const auto found = noise.achieved.find(on.factor);
            if (found != noise.achieved.end())
                achieved_ns[on.factor] += static_cast<double>(overlap_ns(chip, found->second));
        }
    }
    std::map<std::string, double> shares;
    for (const auto& [factor, assigned] : assigned_ns) shares[factor] = achieved_ns[factor] / assigned;
    return shares;
}

}  // namespace analysis
