#include "analysis/noise_archive.hpp"

#include "analysis/roles.hpp"
#include "base/error.hpp"
#include "base/saturating.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/fan_out.hpp"
#include "trace-tools/otf2/reader.hpp"
#include "trace-tools/patterns/soundness.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace analysis {

namespace {

class ScheduleReader : public otf2::Visitor {
 public:
    explicit ScheduleReader(const otf2::Archive& archive)
        : archive_{archive},
          block_{archive.find_attribute("block")},
          level_{archive.find_attribute("level")},
          stressor_{archive.find_attribute("stressor")},
          position_{archive.find_attribute("chip")},
          open_(archive.locations.size())
    {
    }

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        const std::string& location = archive_.locations[at.location].name;
        const std::string& name = archive_.regions[region].name;
        if (location == "schedule") {
            if (depth_++ == 0)
                chips.push_back({.block = number(attributes, block_),
                                 .begin_ns = at.time_ns,
                                 .end_ns = at.time_ns,
                                 .on = {},
                                 .position = number(attributes, position_)});
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
    std::optional<std::uint32_t> position_;
    int depth_ = 0;
    std::vector<std::vector<Open>> open_;
};

// Slots follow each other without gaps. Those of a rotation or a factorial are all of one length, those of a sequence
// wherever they have the same place in it; only the last one may be cut short by the end of the run.
void refuse_other_than_designed(const std::vector<Chip>& chips, Design design, const std::string& archive)
{
    constexpr std::int64_t rounding_ns = 1000;
    std::map<std::int64_t, std::size_t> first_of;  // position: number of a slot
    for (std::size_t i = 0; i < chips.size(); ++i) {
        const auto refuse = [&](const auto&... why) { base::fail(archive, ": slot ", i, " of the schedule ", why...); };
        const std::int64_t length_ns = base::saturated_difference(chips[i].end_ns, chips[i].begin_ns);
        if (length_ns <= 0) refuse("ends before it begins");
        const std::int64_t gap_ns = i == 0 ? 0 : base::saturated_difference(chips[i].begin_ns, chips[i - 1].end_ns);
        if (gap_ns < -rounding_ns || gap_ns > rounding_ns) refuse("does not begin where slot ", i - 1, " ends");
        const std::size_t like =
            first_of.try_emplace(design == Design::sequence ? chips[i].position : 0, i).first->second;
        const std::int64_t longer_ns = length_ns - (chips[like].end_ns - chips[like].begin_ns);
        const bool cut_short = i + 1 == chips.size() && longer_ns < 0;
        if (std::abs(longer_ns) > rounding_ns && !cut_short)
            refuse("is ", length_ns, " ns long, slot ", like, " ", length_ns - longer_ns,
                   " ns: they were designed to be of one length");
    }
}

// The names that noisegen gave to its factors, where the archive says them.
void refuse_unknown_factors(const std::vector<Chip>& chips, const otf2::Archive& archive, const std::string& path)
{
    const std::optional<std::string> listed = archive.property("crosstalk::factors");
    if (!listed) return;
    const std::vector<std::string> known = base::split(*listed, ',');
    for (const Chip& chip : chips)
        for (const Assigned& on : chip.on)
            if (std::find(known.begin(), known.end(), on.factor) == known.end())
                base::fail(path, ": its schedule assigns '", on.factor, "', which is none of its factors (", *listed,
                           ")");
}

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

}  // namespace

Noise read_noise(const std::filesystem::path& path)
{
    constexpr otf2::ReadOptions own_clock{.undo_clock_offsets = true};
    otf2::Reader reader{path, own_clock};
    const otf2::Archive& archive = reader.archive();
    const auto schedule = std::find_if(archive.locations.begin(), archive.locations.end(),
                                       [](const otf2::Location& location) { return location.name == "schedule"; });
    if (schedule == archive.locations.end())
        base::fail(path.string(), " has no location 'schedule': it is no archive of noisegen");
    otf2::Soundness soundness{archive};
    ScheduleReader visitor{archive};
    otf2::FanOut both{&soundness, &visitor};
    reader.read_by_location(both);
    otf2::refuse_unsound(reader, soundness);

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
    refuse_other_than_designed(noise.chips, noise.design, path.string());
    refuse_unknown_factors(noise.chips, archive, path.string());
    if (noise.chips.empty()) base::fail(path.string(), " holds no chips: no noise was scheduled");
    for (auto& [region, stretches] : visitor.achieved) noise.achieved[region] = merged(std::move(stretches));
    noise.stopped = merged(std::move(visitor.stopped));
    return noise;
}

namespace {

bool makes_noise(const Assigned& on)
{
    return role_of(on.stressor) == Role::treatment;
}

bool assigns_noise(const Chip& chip)
{
    return std::any_of(chip.on.begin(), chip.on.end(), makes_noise);
}

}  // namespace

std::map<std::string, double> achieved_share(const Noise& noise)
{
    const Assigned quiet{.factor = "quiet", .level = "", .stressor = "placebo"};
    std::map<std::string, double> assigned_ns;
    std::map<std::string, double> achieved_ns;
    for (const Chip& chip : noise.chips) {
        for (const Assigned& on : chip.on.empty() ? std::vector{quiet} : chip.on) {
            const auto found = noise.achieved.find(on.factor);
            if (found == noise.achieved.end() && !makes_noise(on)) continue;
            assigned_ns[on.factor] += static_cast<double>(chip.end_ns - chip.begin_ns);
            if (found != noise.achieved.end())
                achieved_ns[on.factor] += static_cast<double>(overlap_ns(chip.begin_ns, chip.end_ns, found->second));
        }
    }
    std::map<std::string, double> shares;
    for (const auto& [factor, assigned] : assigned_ns) shares[factor] = achieved_ns[factor] / assigned;
    return shares;
}

double disturbed_share(const Noise& noise)
{
    std::vector<Stretch> any;
    std::set<std::string> factors;
    for (const Chip& chip : noise.chips)
        for (const Assigned& on : chip.on)
            if (makes_noise(on) && factors.insert(on.factor).second)
                if (const auto found = noise.achieved.find(on.factor); found != noise.achieved.end())
                    any.insert(any.end(), found->second.begin(), found->second.end());
    const std::vector<Stretch> stretches = merged(std::move(any));
    double quiet_ns = 0.0;
    double disturbed_ns = 0.0;
    for (const Chip& chip : noise.chips) {
        if (assigns_noise(chip)) continue;
        quiet_ns += static_cast<double>(chip.end_ns - chip.begin_ns);
        disturbed_ns += static_cast<double>(overlap_ns(chip.begin_ns, chip.end_ns, stretches));
    }
    return quiet_ns > 0.0 ? disturbed_ns / quiet_ns : 0.0;
}

}  // namespace analysis
