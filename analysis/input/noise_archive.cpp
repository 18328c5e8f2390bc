// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/noise_archive.hpp"

#include "base/contract/factor_name.hpp"
#include "base/contract/roles.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/saturating.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/read/soundness.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace analysis {

namespace {

// Reads the spans in which noise threads were in each region, and in which they held the training stopped.
class NoiseReader : public otf2::Visitor {
 public:
    explicit NoiseReader(const otf2::Archive& archive) : archive_{archive}, open_(archive.locations.size())
    {
        for (std::uint32_t location = 0; location < archive.locations.size(); ++location)
            if (is_cpu(location)) recorded[archive.locations[location].name];
    }

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        if (is_cpu(at.location)) open_[at.location].push_back({region, at.time_ns});
    }

    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        if (!is_cpu(at.location) || open_[at.location].empty()) return;
        const Open last = open_[at.location].back();
        open_[at.location].pop_back();
        if (last.region != region) return;
        const std::string& name = archive_.regions[region].name;
        const bool within_its_slot = !open_[at.location].empty();
        if (within_its_slot && name == base::region::training_stopped)
            stopped.push_back({last.begin_ns, at.time_ns});
        else
            achieved[name].push_back({last.begin_ns, at.time_ns});
        if (!within_its_slot) recorded[archive_.locations[at.location].name].push_back({last.begin_ns, at.time_ns});
    }

    std::map<std::string, std::vector<TimeSpan>> achieved;
    std::map<std::string, std::vector<TimeSpan>> recorded;  // [location]
    std::vector<TimeSpan> stopped;

 private:
    struct Open {
        std::uint32_t region = 0;
        std::int64_t begin_ns = 0;
    };

    bool is_cpu(std::uint32_t location) const
    {
        return archive_.locations[location].name.starts_with(base::location::noise_cpu);
    }

    const otf2::Archive& archive_;
    std::vector<std::vector<Open>> open_;
};

// Throws Error for slots that are not as designed. Slots follow each other without gaps. Slots of a rotation or a
// factorial have one length; in a sequence, slots at the same position in it do. Only the last slot may be cut short by
// the end of the run.
void refuse_other_than_designed(const std::vector<Slot>& slots, Design design, const std::string& archive)
{
    constexpr std::int64_t rounding_ns = 1000;
    std::map<std::int64_t, std::size_t> first_of;  // number of a slot, by position
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto refuse = [&](const auto&... why) { base::fail(archive, ": slot ", i, " of the schedule ", why...); };
        const std::int64_t length_ns = base::saturated_difference(slots[i].end_ns, slots[i].begin_ns);
        if (length_ns <= 0) refuse("ends before it begins");
        const std::int64_t gap_ns = i == 0 ? 0 : base::saturated_difference(slots[i].begin_ns, slots[i - 1].end_ns);
        if (gap_ns < -rounding_ns || gap_ns > rounding_ns) refuse("does not begin where slot ", i - 1, " ends");
        const std::size_t like =
            first_of.try_emplace(design == Design::sequence ? slots[i].position : 0, i).first->second;
        const std::int64_t longer_ns = length_ns - (slots[like].end_ns - slots[like].begin_ns);
        const bool cut_short = i + 1 == slots.size() && longer_ns < 0;
        if (std::abs(longer_ns) > rounding_ns && !cut_short)
            refuse("is ", length_ns, " ns long, slot ", like, " ", length_ns - longer_ns,
                   " ns: slots must have equal length");
    }
}

// Throws Error for factors other than those that noisegen recorded in the archive, if it did.
void refuse_unknown_factors(const std::vector<Slot>& slots, const otf2::Archive& archive, const std::string& path)
{
    const std::optional<std::string> listed = archive.property(base::property::factors);
    if (!listed) return;
    const std::vector<std::string> known = base::split(*listed, ',');
    for (const Slot& slot : slots)
        for (const Assigned& on : slot.on)
            if (std::find(known.begin(), known.end(), on.factor) == known.end())
                base::fail(path, ": its schedule assigns '", on.factor, "', which is not one of its factors (", *listed,
                           ")");
}

bool makes_noise(const Assigned& on)
{
    return on.role == base::Role::treatment;
}

bool assigns_noise(const Slot& slot)
{
    return std::any_of(slot.on.begin(), slot.on.end(), makes_noise);
}

// Sets Noise::least_recorded.
void find_silent_threads(Noise& noise, std::map<std::string, std::vector<TimeSpan>> recorded)
{
    double assigned_ns = 0.0;
    for (const Slot& slot : noise.slots)
        if (assigns_noise(slot)) assigned_ns += static_cast<double>(slot.end_ns - slot.begin_ns);
    if (assigned_ns == 0.0) return;
    for (auto& [location, stretches] : recorded) {
        const std::vector<TimeSpan> all = merged(std::move(stretches));
        double recorded_ns = 0.0;
        for (const Slot& slot : noise.slots)
            if (assigns_noise(slot)) recorded_ns += static_cast<double>(overlap_ns(slot.begin_ns, slot.end_ns, all));
        if (recorded_ns / assigned_ns >= noise.least_recorded) continue;
        noise.least_recorded = recorded_ns / assigned_ns;
        noise.least_recorded_by = location;
    }
}

}  // namespace

Noise read_noise(const std::filesystem::path& path)
{
    constexpr otf2::ReadOptions own_clock{.undo_clock_offsets = true};
    otf2::Reader reader{path, own_clock};
    const otf2::Archive& archive = reader.archive();
    const std::uint32_t schedule = otf2::schedule_location(archive);
    if (schedule == otf2::nowhere) base::fail(path.string(), " has no location 'schedule': not an archive of noisegen");
    otf2::Soundness soundness{archive};
    otf2::SlotReader assigned{archive, schedule};
    NoiseReader threads{archive};
    otf2::FanOut all{&soundness, &assigned, &threads};
    reader.read_by_location(all);
    otf2::refuse_unsound(reader, soundness);

    Noise noise;
    noise.archive = path;
    const otf2::Location& location = archive.locations[schedule];
    noise.clock = archive.clock_identity(location);
    const std::uint32_t node =
        location.process == otf2::nowhere ? otf2::nowhere : archive.processes[location.process].node;
    noise.host = node == otf2::nowhere ? "" : archive.nodes[node].name;
    noise.design = parse_design(archive.property(base::property::design).value_or("sequence"));
    noise.schedule = archive.property(base::property::schedule).value_or("");
    noise.seed = archive.property(base::property::seed).value_or("");
    noise.slots = std::move(assigned.slots);
    refuse_other_than_designed(noise.slots, noise.design, path.string());
    refuse_unknown_factors(noise.slots, archive, path.string());
    if (noise.slots.empty()) base::fail(path.string(), " holds no slots: no noise was scheduled");
    // In a factorial a CPU belongs to one stressor, and may record nothing of the others.
    if (noise.design != Design::factorial) find_silent_threads(noise, std::move(threads.recorded));
    for (auto& [region, stretches] : threads.achieved) noise.achieved[region] = merged(std::move(stretches));
    noise.stopped = merged(std::move(threads.stopped));
    return noise;
}

std::map<std::string, double> achieved_share(const Noise& noise)
{
    const Assigned quiet{.factor = "quiet", .level = "", .stressor = "", .role = base::Role::placebo};
    std::map<std::string, double> assigned_ns;
    std::map<std::string, double> achieved_ns;
    for (const Slot& slot : noise.slots) {
        for (const Assigned& on : slot.on.empty() ? std::vector{quiet} : slot.on) {
            const auto found = noise.achieved.find(on.factor);
            if (found == noise.achieved.end() && !makes_noise(on)) continue;
            const std::string name = base::factor_name(on.factor, on.level);
            assigned_ns[name] += static_cast<double>(slot.end_ns - slot.begin_ns);
            if (found != noise.achieved.end())
                achieved_ns[name] += static_cast<double>(overlap_ns(slot.begin_ns, slot.end_ns, found->second));
        }
    }
    std::map<std::string, double> shares;
    for (const auto& [name, assigned] : assigned_ns) shares[name] = achieved_ns[name] / assigned;
    return shares;
}

double disturbed_share(const Noise& noise)
{
    std::vector<TimeSpan> any;
    std::set<std::string> factors;
    for (const Slot& slot : noise.slots)
        for (const Assigned& on : slot.on)
            if (makes_noise(on) && factors.insert(on.factor).second)
                if (const auto found = noise.achieved.find(on.factor); found != noise.achieved.end())
                    any.insert(any.end(), found->second.begin(), found->second.end());
    const std::vector<TimeSpan> stretches = merged(std::move(any));
    double quiet_ns = 0.0;
    double disturbed_ns = 0.0;
    for (const Slot& slot : noise.slots) {
        if (assigns_noise(slot)) continue;
        quiet_ns += static_cast<double>(slot.end_ns - slot.begin_ns);
        disturbed_ns += static_cast<double>(overlap_ns(slot.begin_ns, slot.end_ns, stretches));
    }
    return quiet_ns > 0.0 ? disturbed_ns / quiet_ns : 0.0;
}

}  // namespace analysis
